"""A sentence with its word classes at hand, and the sign of what it says about them."""

from __future__ import annotations

from heldout.llm.simulated.language import Sentence, stem, stems
from heldout.llm.simulated.lexicon import Marks, marks

_NOT = stem("not")
_SOFT = stems("only just merely simply solely exclusively")
_TURNING = stems("ignore disregard skip omit neglect")
"""Words of rejecting that the reader of negation takes for a refusal of their whole clause."""


class View:
    """A sentence with its word classes at hand."""

    __slots__ = ("marks", "sentence", "words")

    def __init__(self, sentence: Sentence) -> None:
        self.sentence = sentence
        self.words = tuple(token.stem for token in sentence.tokens)
        self.marks: Marks = marks(sentence)

    def has(self, *names: str) -> bool:
        """True when every class occurs."""
        return all(name in self.marks for name in names)

    def any(self, *names: str) -> bool:
        """True when one of the classes occurs."""
        return any(name in self.marks for name in names)

    def at(self, *names: str) -> list[int]:
        """Positions of the classes, in order."""
        return sorted(place for name in names for place in self.marks.get(name, ()))

    def sign(self, *names: str) -> int:
        """+1 when one of the words stands affirmed, -1 when all are negated, 0 without any."""
        return self.sign_at(self.at(*names))

    def sign_at(self, places: list[int]) -> int:
        """The sign over some positions."""
        if not places:
            return 0
        return 1 if any(self.affirmed(place) for place in places) else -1

    def affirmed(self, place: int) -> bool:
        """True when the word stands affirmed; "not only" is a negated "only"."""
        if self.words[place] in _SOFT and place and self.words[place - 1] == _NOT:
            return False
        return self.sentence.tokens[place].affirmed

    def required(self, *names: str) -> bool:
        """True when a class occurs in what "never ... before/without" demands."""
        return any(self.sentence.tokens[place].required for place in self.at(*names))

    def word(self, *words: str) -> bool:
        """True when one of the words occurs."""
        return any(stem(word) in self.words for word in words)

    def rejects(self, *names: str) -> int:
        """+1 when what the words of rejecting speak of is to be rejected, -1 when it is not."""
        places = self.at(*(names or ("reject",)))
        if not places:
            return 0
        turned = [self.affirmed(at) != (self.words[at] in _TURNING) for at in places]
        return 1 if any(turned) else -1
