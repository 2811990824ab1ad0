"""Every error that heldout raises on purpose.

::

    HeldoutError
    ├── UsageError              the command was called with words that do not fit     exit 2
    ├── ConfigError             heldout.toml or a project folder is wrong             exit 1
    ├── SpecError               a spec, truth or split file is malformed or altered   exit 1
    ├── SplitViolation          a process reached for material its role may not see   exit 1
    │   └── CanaryFound             a spec's or truth's canary stands where none may
    ├── WorldError              a world is missing, altered or out of the ontology    exit 1
    │   └── agent.SandboxFailure    an environment broke in the middle of a call
    ├── BrainError              a brain's manifest or files are wrong                 exit 1
    ├── EditError               an edit or patch does not apply                       exit 1
    ├── IngestError             real material could not be read                       exit 1
    ├── ProviderError           the model's service failed (never the model's fault)  exit 1
    │   ├── ProviderRefused         401, 403, 404: retrying cannot help
    │   │   ├── llm.ContextExceeded     the conversation outgrew the model's window
    │   │   └── llm.RequestRefused      400, 422: the endpoint does not take the request
    │   ├── ProviderUnavailable     429, 5xx, time-outs, resets, after bounded retries
    │   ├── ProviderProtocol        an answer that is not the wire format
    │   └── ProviderFiltered        the provider's filter withheld the answer
    ├── CapReached              a cap of the job (USD, tokens, seconds) was reached   exit 1
    ├── JudgeError              the judge gave no usable verdict                      exit 1
    ├── StoreError              the ledger cannot be opened, read or written          exit 1
    │   └── LedgerBusy              another process is writing it
    ├── GateError               the gate could not run; treated as a rejection        exit 1
    ├── GateRejected            the gate ran and refused                              exit 3
    ├── ComparisonFailed        a comparison or score did not pass                    exit 3
    └── LooksExhausted          the held-out half may not be opened again             exit 3

A message says *what* is wrong, *where*, and *how to mend it*, in one sentence each.
"""

from __future__ import annotations


class HeldoutError(Exception):
    """Base of the tree: ``what`` happened, ``where``, and how to ``mend`` it."""

    exit_code = 1

    def __init__(self, what: str, *, where: str = "", mend: str = "") -> None:
        self.what = what
        self.where = where
        self.mend = mend
        super().__init__(self.sentence())

    def sentence(self) -> str:
        """The whole message on one line."""
        text = self.what.rstrip(".")
        if self.where:
            text = f"{self.where}: {text}"
        if self.mend:
            text = f"{text}. {self.mend.rstrip('.')}"
        return f"{text}."


class UsageError(HeldoutError):
    """The command was called with words that do not fit."""

    exit_code = 2


class ConfigError(HeldoutError):
    """``heldout.toml`` or a project folder is wrong."""


class SpecError(HeldoutError):
    """A spec, truth or split file is malformed or was altered."""


class SplitViolation(HeldoutError):
    """A process reached for material that its role may not see."""


class CanaryFound(SplitViolation):
    """The canary of a spec or truth stands in a prompt, a trace or a brain: something leaks."""


class WorldError(HeldoutError):
    """A world is missing, altered, or says something outside the ontology."""


class BrainError(HeldoutError):
    """A brain's manifest or files are wrong."""


class EditError(HeldoutError):
    """An edit or patch does not apply."""


class IngestError(HeldoutError):
    """Real material could not be read."""


class ProviderError(HeldoutError):
    """The model's service failed; never booked as a wrong answer of the model."""

    reason = "provider"


class ProviderRefused(ProviderError):
    """The provider refused for good (401, 403, 404, 400): retrying cannot help."""

    reason = "provider_refused"


class ProviderUnavailable(ProviderError):
    """429, 5xx, time-outs and resets that outlived the bounded retries."""

    reason = "provider_unavailable"


class ProviderProtocol(ProviderError):
    """The provider's answer is not the wire format."""

    reason = "provider_protocol"


class ProviderFiltered(ProviderError):
    """The provider's filter withheld the answer."""

    reason = "provider_filtered"


class CapReached(HeldoutError):
    """A cap of the job was reached; what is left stays unstarted."""


class JudgeError(HeldoutError):
    """The judge gave no usable verdict."""


class StoreError(HeldoutError):
    """The ledger cannot be opened, read or written."""


class LedgerBusy(StoreError):
    """Another process is writing the ledger."""


class GateError(HeldoutError):
    """The gate could not run; treated as a rejection."""


class GateRejected(HeldoutError):
    """The gate ran and refused."""

    exit_code = 3


class ComparisonFailed(HeldoutError):
    """A comparison or a score did not pass."""

    exit_code = 3


class LooksExhausted(HeldoutError):
    """The held-out half may not be opened again with this budget."""

    exit_code = 3
