"""Runs one program over one knowledge base."""

from dataclasses import dataclass, field
from math import isfinite
from typing import Any

from tasks.models.encoders.load import Encoder
from tasks.programs.entities import Chooser
from tasks.programs.functions import FunctionCall, Functions
from tasks.programs.knowledge_bases.protocol import KnowledgeBase
from tasks.programs.limits import Limits
from tasks.programs.messages import info_message
from tasks.programs.sandbox import shared_sandbox
from tasks.programs.value_functions import value_functions

DEFAULT_LIMITS = Limits()


@dataclass(frozen=True, slots=True)
class ProgramRun:
    """The results of a program in one knowledge base, even if it failed on the way.

    `messages` come from the functions, `result` is what `search()` returned (with its
    explanations), `answers` are the values that the program collected in its list of that name.
    """

    knowledge_base: str
    graph: str
    messages: list[str]
    result: Any
    calls: list[FunctionCall]
    error: str | None
    answers: list[str] = field(default_factory=list)

    @property
    def found(self) -> bool:
        """Whether a call returned a fact or a requested text, or the program gave an answer."""
        return bool(self.answers) or any(call.found for call in self.calls)

    @property
    def knowledge(self) -> list[str]:
        """All lines of the results: the functions' messages and what the program added."""
        added = self.result if isinstance(self.result, str) else ""
        for message in filter(None, self.messages):  # however the program joined them
            added = added.replace(message, "\n")
        lines = dict.fromkeys(map(str.strip, added.splitlines()))
        return self.messages + [line for line in lines if any(map(str.isalnum, line))]


def run_program(
    code: str,
    kb: KnowledgeBase,
    question: str,
    limits: Limits = DEFAULT_LIMITS,
    *,
    chooser: Chooser | None = None,
    encoder: Encoder | None = None,
    seed: int = 0,
) -> ProgramRun:
    """Run a program over a knowledge base; its failure is in the run's `error`.

    `chooser` decides which of several candidates a name means, by default the likeliest; an
    `encoder` finds relations in other words.
    """
    functions = Functions(kb, question, chooser, encoder)
    outcome = shared_sandbox().run(
        code, functions.callables(), value_functions(), limits, seed=seed
    )
    troubles: list[str] = getattr(kb, "troubles", [])  # of a remote one
    return ProgramRun(
        knowledge_base=kb.name,
        graph=kb.graph,
        messages=functions.messages + [info_message(kb.name, trouble) for trouble in troubles],
        result=outcome.result,
        calls=functions.calls,
        error=outcome.error,
        answers=_texts(outcome.answers),
    )


def _texts(values: list[Any]) -> list[str]:
    """Return answers as texts, once each, in their order; whole numbers without a fraction.

    A number that is not finite is no answer: it stands for one that is too large.
    """
    texts = []
    for value in values:
        if isinstance(value, list):
            texts += _texts(value)
        elif isinstance(value, float) and not isfinite(value):
            continue
        elif isinstance(value, float) and value.is_integer():
            texts.append(str(int(value)))
        elif value is not None and str(value).strip():
            texts.append(str(value))
    return list(dict.fromkeys(texts))
