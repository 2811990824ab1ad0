"""New failures become generated incidents: a report or a corrected thread, a draft, a person's yes.

A report is read by a model or by a person who fills a form; either answers in a closed vocabulary.
The draft holds specs with their worlds validated, is as secret as a truth, and joins a set only
when somebody accepts it.
"""

from heldout.intake.accepting import accept, drop
from heldout.intake.drafting import Drafting, draft_incident
from heldout.intake.drafts import Draft, DraftState, states
from heldout.intake.dropped import Dropped, dropped
from heldout.intake.forms import form_path, read_form, write_form
from heldout.intake.material import Material, read_material
from heldout.intake.reading import Reading, checked_reading
from heldout.intake.vocabulary import TRIGGERS, nearest, vocabulary

__all__ = [
    "TRIGGERS",
    "Draft",
    "DraftState",
    "Drafting",
    "Dropped",
    "Material",
    "Reading",
    "accept",
    "checked_reading",
    "draft_incident",
    "drop",
    "dropped",
    "form_path",
    "nearest",
    "read_form",
    "read_material",
    "states",
    "vocabulary",
    "write_form",
]
