"""``heldout transfer``: what a table would cost, playing it, and one that was played."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from heldout.pipeline.progress import SILENT, Say, progress_words
from heldout.pipeline.stages import build_worlds
from heldout.settings import Settings

if TYPE_CHECKING:
    from heldout.store import Ledger
    from heldout.transfer import Asked, Table


@dataclass(frozen=True, slots=True)
class Tabled:
    """A finished table as text, as Markdown, as plain data, and the path of its page."""

    text: str
    markdown: str
    plain: dict[str, Any]
    page: str


def transfer_now(
    settings: Settings, asked: Asked, *, resume: str = "", say: Say = SILENT
) -> Tabled:
    """Play a table, or go on with a stopped one, and write its page."""
    from heldout.store import Ledger
    from heldout.store.transfers import transfers
    from heldout.transfer import transfer

    if not resume:
        with Ledger.open(settings.ledger) as ledger:
            asked = replace(asked, models=_columns(settings, ledger, asked))
            for row in transfers(ledger):
                if row.result is None and row.half == asked.half:
                    say.note(f"table {row.transfer} was stopped; --resume {row.transfer} goes on")
    say("building worlds")
    build_worlds(settings)

    def tell(name: str, model: str, state: object) -> None:
        say(f"transfer {name} · {model} · {progress_words(state)}")

    return _tabled(settings, transfer(settings, asked, resume=resume, tell=tell))


def transfer_cost(settings: Settings, asked: Asked) -> str:
    """What a table would cost and could show; nothing is played, opened or written."""
    from heldout.pipeline.planning import plan_transfer, render_plan
    from heldout.store import Ledger

    if not settings.ledger.is_file():
        return render_plan(plan_transfer(settings, None, asked))
    with Ledger.open(settings.ledger, read_only=True) as ledger:
        asked = replace(asked, models=_columns(settings, ledger, asked))
        return render_plan(plan_transfer(settings, ledger, asked))


def transfer_of(settings: Settings, name: str = "") -> Tabled:
    """A finished table from the ledger, by default the newest."""
    from heldout.store import Ledger
    from heldout.transfer import stored

    with Ledger.open(settings.ledger, read_only=True) as ledger:
        return _tabled(settings, stored(ledger, name))


def _tabled(settings: Settings, table: Table) -> Tabled:
    from heldout.report.transfer import save_table
    from heldout.transfer import render_markdown, render_table

    page = save_table(table, settings)
    return Tabled(render_table(table), render_markdown(table), table.plain(), str(page))


def _columns(settings: Settings, ledger: Ledger, asked: Asked) -> tuple[str, ...]:
    """The models asked for; by default all that were tuned here and have an overlay in use."""
    from heldout.brain import load_brain
    from heldout.overlays import tuned_for
    from heldout.store.queries import jobs

    if asked.models:
        return asked.models
    brain = load_brain(settings.brain)
    known = {row.model for row in jobs(ledger, kind="tune") if row.model}
    return tuple(model for model in sorted(known) if tuned_for(brain, model))
