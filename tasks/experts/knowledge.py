"""The prompts for experts, and the texts that experts write, with the results of the filters."""

import re
from dataclasses import dataclass, replace
from math import isnan
from typing import Literal

Reason = Literal[
    "empty", "repeated", "relevance", "factuality", "sampled", "votes", "budget", "unsure"
]
_FORMS = {"en": ("Question: ", "\nAnswer:"), "zh": ("问题：", "\n答案：")}
_PROMPT = re.compile(
    "|".join(f"{before}.*?{after}" for before, after in _FORMS.values()), re.DOTALL
)


def question_prompt(question: str, language: str) -> str:
    """Return the prompt for an answer to a question, as training texts with questions begin."""
    before, after = _FORMS["zh" if language == "zh" else "en"]
    return f"{before}{question}{after}"


def prompt_of(text: str) -> str:
    """Return the question prompt at the start of a training text; empty if there is none."""
    match = _PROMPT.match(text)
    return match[0] if match else ""


@dataclass(frozen=True, slots=True)
class NeedExample:
    """A question, and whether a model answered it correctly without knowledge.

    `surprise` is the uncertainty of a small model in nats per token, None if it was not measured.
    """

    question: str
    language: str
    right: bool
    surprise: float | None = None


@dataclass(frozen=True, slots=True)
class KnowledgeText:
    """A text that an expert wrote, with the results of the filters that have run so far.

    Filters return every text that they were given; a dropped text has the reason. Scores are None
    if their filter did not run: `relevance` is a cosine; `summary`, `support`, `refute`, `unknown`
    and `score` are shares from 0 to 1, `score` that of CooK, section 2.4. `agreement` is the share
    of the expert's texts about the question that are equal to this one; None if it is the only one.
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

    @property
    def trust(self) -> float:
        """What texts are chosen by: the mean of score and agreement, or the score alone.

        An expert that remembers a fact repeats itself, one that guesses does not (self-consistency,
        Wang et al. 2022). A score that is missing or NaN counts as 0.
        """
        score = 0.0 if self.score is None or isnan(self.score) else self.score
        return score if self.agreement is None else (score + self.agreement) / 2

    @property
    def measures(self) -> dict[str, float | None]:
        """What the filters measured, by name."""
        names = ("agreement", "relevance", "summary", "support", "refute", "unknown")
        return {name: getattr(self, name) for name in names}

    def drop(self, reason: Reason) -> "KnowledgeText":
        """Return the text as dropped; a text that was dropped before keeps its reason."""
        return self if self.dropped else replace(self, dropped=reason)
