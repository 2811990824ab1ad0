"""The DSPy signatures: what each typed call says to the model.

Built inside functions, because importing DSPy costs most of a CPU second.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any, Literal

from pydantic import BaseModel

from heldout.signatures.records import BEHAVIOURS


class OpDraft(BaseModel):
    """One patch operation as a model writes it."""

    file: str
    action: Literal["append", "insert_after", "replace", "delete"]
    anchor: str = ""
    text: str = ""


class EditDraft(BaseModel):
    """One candidate edit as a model writes it."""

    ops: list[OpDraft]
    reason: str = ""
    expected_effect: str = ""
    feared_harm: str = ""


DIAGNOSE = """\
You review one failed investigation of an AI SRE agent. Say how its way of working led it to the
wrong answer. Names, ids, dates and values are replaced by placeholders such as <service-1>; never
guess what stands behind them and never use placeholders in your answer: describe kinds of things.

The behaviours to choose from (behaviours: all that apply; primary: the one that decided it):
{behaviours}
"""

PROPOSE = """\
You improve the written method ("brain") of an AI SRE agent. You are given its files, and how a
cluster of its investigations went wrong. Write candidate edits: each a small patch that changes
what the agent does in every future incident of this kind, and nothing else.

Rules for every edit:
- Write general method, in plain imperative sentences. No fact of any incident: no names of
  services, files, keys, people or tools of a site, no ids, dates, clock times, pull requests,
  values or quoted messages, and no placeholders such as <service-1>.
- Do not turn one mistake into its opposite: the agent must still find the cause when it is the
  change at the onset, and must still say that no change is to blame when that is so.
- Few lines; every line must change behaviour. Do not repeat what the brain already says.
- Candidates differ from each other. Do not repeat a rejected edit; its reason tells why.
- Operations: append (text at the end of file), insert_after and replace (anchor = one whole,
  unique line of that file), delete (anchor). Write to the target file unless a line elsewhere
  misleads the agent.
"""

REVISE = """\
An edit of an AI SRE agent's written method was refused by a checker. Rewrite it so that it keeps
its advice and none of what the findings mark: say what kind of component, not which; state the
method without the number; drop the example. If nothing general is left, return an edit whose
operations hold only the lines that were not marked.
"""


@lru_cache(maxsize=1)
def diagnose_form() -> Any:
    """The signature that reads one failure."""
    import dspy

    class DiagnoseFailure(dspy.Signature):  # type: ignore[misc]
        digest: str = dspy.InputField(desc="what the agent did and answered, and the judge's view")
        found: str = dspy.OutputField(desc="what it did establish, one sentence")
        never_asked: list[str] = dspy.OutputField(desc="questions it should have asked, short")
        window_days: float = dspy.OutputField(
            desc="how many days before the alert its change searches reached, 0 if none"
        )
        decoy_believed: bool = dspy.OutputField(
            desc="true if it blamed a change for its timing alone"
        )
        behaviours: list[str] = dspy.OutputField(desc="names from the list, all that apply")
        primary: str = dspy.OutputField(desc="the one name from the list that decided the outcome")

    listed = "\n".join(f"- {name}: {text}" for name, text in BEHAVIOURS.items())
    return DiagnoseFailure.with_instructions(DIAGNOSE.format(behaviours=listed))


@lru_cache(maxsize=1)
def propose_form() -> Any:
    """The signature that writes candidate edits for one cluster."""
    import dspy

    class ProposeEdits(dspy.Signature):  # type: ignore[misc]
        brain: str = dspy.InputField(desc="the files as the agent reads them")
        target_file: str = dspy.InputField(desc="where edits belong; may not exist yet")
        cluster: str = dspy.InputField(desc="the behaviour to correct and how often it occurred")
        diagnoses: str = dspy.InputField(desc="JSON list: the failures of the cluster")
        rejected: str = dspy.InputField(desc="JSON list: edits tried before and why they failed")
        limits: str = dspy.InputField(desc="how many candidates and lines")
        edits: list[EditDraft] = dspy.OutputField(desc="candidate edits")

    return ProposeEdits.with_instructions(PROPOSE)


@lru_cache(maxsize=1)
def revise_form() -> Any:
    """The signature that rewrites an edit which the gate refused."""
    import dspy

    class ReviseEdit(dspy.Signature):  # type: ignore[misc]
        draft: str = dspy.InputField(desc="JSON: the refused edit")
        findings: str = dspy.InputField(desc="JSON list: rule, the line of yours, how to mend")
        edit: EditDraft = dspy.OutputField(desc="the rewritten edit")

    return ReviseEdit.with_instructions(REVISE)
