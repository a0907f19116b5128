"""How experts are asked, and what one wrote, with what the filters made of it."""

import re
from dataclasses import dataclass, replace
from typing import Literal

Reason = Literal["empty", "repeated", "relevance", "factuality", "sampled", "votes", "budget"]
_FORMS = {"en": ("Question: ", "\nAnswer:"), "zh": ("问题：", "\n答案：")}
_PROMPT = re.compile(
    "|".join(f"{before}.*?{after}" for before, after in _FORMS.values()), re.DOTALL
)


def question_prompt(question: str, language: str) -> str:
    """Return the prompt after which an expert answers; training texts with questions have it."""
    before, after = _FORMS["zh" if language == "zh" else "en"]
    return f"{before}{question}{after}"


def prompt_of(text: str) -> str:
    """Return the question that a training text begins with, as its prompt; else nothing."""
    match = _PROMPT.match(text)
    return match[0] if match else ""


@dataclass(frozen=True, slots=True)
class KnowledgeText:
    """A text that an expert wrote, in its state after the filters so far.

    Filters return every text they were given: those they drop carry the reason. Scores are None
    where the filter did not run: `relevance` is a cosine; `summary`, `support`, `refute`, `unknown`
    and `score` are shares from 0 to 1. `agreement` is the share of the expert's texts about the
    question that say just this; None if there is no other.
    """

    expert: str
    text: str
    pruned: str | None = None
    agreement: float | None = None
    relevance: float | None = None
    summary: float | None = None
    support: float | None = None
    refute: float | None = None
    unknown: float | None = None
    score: float | None = None
    dropped: Reason | None = None

    @property
    def words(self) -> str:
        """The text as the answering model sees it."""
        return self.text if self.pruned is None else self.pruned

    def drop(self, reason: Reason) -> "KnowledgeText":
        """Return the text as dropped, unless it was before."""
        return self if self.dropped else replace(self, dropped=reason)
