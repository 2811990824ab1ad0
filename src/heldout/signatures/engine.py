"""DSPy over the project's own model client: one wire, one limiter, no cache, no litellm.

DSPy accepts an engine object with ``complete(Request) -> Response``; retries, prices and limits
stay with :class:`heldout.llm.ModelClient`. ``JSONAdapter`` is used because ``ChatAdapter`` answers
a malformed reply with a silent second call.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Protocol

from heldout.errors import HeldoutError
from heldout.signatures.records import Answered, Spent


class Client(Protocol):
    """The part of :class:`heldout.llm.ModelClient` that a typed call needs."""

    async def complete(self, request: Any) -> Any:
        """One model call: ``ModelRequest`` in, ``ModelReply`` out."""
        ...


class _SyncEngine:
    """Stands in for the engine that DSPy wants beside the async one; typed calls never use it."""

    supports_function_calling = False
    supports_response_schema = False

    def complete(self, request: Any) -> Any:
        raise HeldoutError("a typed call was made synchronously", mend="Await it")


class ClientEngine:
    """Carries one DSPy request to the client and its reply back; remembers cost and failure."""

    def __init__(self, client: Client, *, seed: int | None, max_output_tokens: int | None) -> None:
        self._client = client
        self._seed = seed
        self._max_output_tokens = max_output_tokens
        self.spent = Spent()
        self.last_text = ""
        self.error: HeldoutError | None = None

    async def complete(self, request: Any) -> Any:
        """One attempt; a provider's error is kept for the caller, because DSPy wraps it."""
        from dspy import lm15

        from heldout.llm import ModelRequest

        try:
            reply = await self._client.complete(
                ModelRequest(
                    messages=_messages(request),
                    seed=self._seed,
                    max_output_tokens=self._max_output_tokens,
                )
            )
        except HeldoutError as error:
            self.error = error
            raise
        usage = reply.usage
        self.last_text = str(reply.text or "")
        inputs, outputs = int(usage.input_tokens), int(usage.output_tokens)
        self.spent += Spent(1, inputs, outputs, reply.usd)
        return lm15.Response(
            id=None,
            model=str(reply.served_model or "model"),
            message=lm15.Message.assistant([lm15.TextPart(self.last_text)]),
            finish_reason="stop",
            usage=lm15.Usage(
                input_tokens=inputs, output_tokens=outputs, total_tokens=inputs + outputs
            ),
        )


def _messages(request: Any) -> tuple[dict[str, Any], ...]:
    system = request.system
    if system is not None and not isinstance(system, str):
        system = "".join(part.text for part in system)
    head = [{"role": "system", "content": system}] if system else []
    return (*head, *({"role": m.role, "content": m.text or ""} for m in request.messages))


async def ask(
    signature: Any,
    client: Client,
    inputs: Mapping[str, str],
    *,
    seed: int | None = None,
    max_output_tokens: int | None = 4096,
) -> Answered[Any]:
    """Run one signature; a reply that does not parse gets one repair call, then is a failure.

    Provider errors are raised as they are: they are nothing the model did wrong.
    """
    import dspy
    from dspy.utils.exceptions import AdapterParseError

    engine = ClientEngine(client, seed=seed, max_output_tokens=max_output_tokens)
    model = dspy.LM(
        "heldout", engine=_SyncEngine(), async_engine=engine, cache=False, num_retries=0
    )
    problem = ""
    with dspy.context(lm=model, adapter=dspy.JSONAdapter(), disable_history=True):
        for form, values in _attempts(dspy, signature, inputs, engine):
            try:
                prediction = await dspy.Predict(form).acall(**values(problem))
            except AdapterParseError as error:
                problem = _first_line(error)
            except dspy.LMError:
                if engine.error is not None:
                    raise engine.error from None
                raise
            else:
                return Answered(prediction, engine.spent)
    return Answered(None, engine.spent, f"the reply did not parse, twice: {problem}")


def _attempts(dspy: Any, signature: Any, inputs: Mapping[str, str], engine: ClientEngine) -> Any:
    clean = {name: _encodable(text) for name, text in inputs.items()}
    yield signature, lambda _problem: clean
    repair = signature.append(
        "previous_reply", dspy.InputField(desc="your reply, which could not be read"), type_=str
    ).append("problem", dspy.InputField(desc="why; send the whole answer again"), type_=str)
    yield (
        repair,
        lambda problem: {
            **clean,
            "previous_reply": _encodable(engine.last_text[:4000]),
            "problem": _encodable(problem),
        },
    )


def _encodable(text: str) -> str:
    """Text without lone surrogates, which no provider can receive."""
    return text.encode("utf-8", "replace").decode("utf-8")


def _first_line(error: Exception) -> str:
    text = str(error).strip().splitlines()
    return text[0][:300] if text else type(error).__name__
