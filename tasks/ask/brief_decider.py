"""Make the decisions of a small local model, which reasons badly and says yes to everything.

It needs more knowledge while it is unsure of its own short answer, and chooses the expert whose
name the question makes likelier by the largest factor.
"""

from collections.abc import Mapping, Sequence

import numpy as np

from tasks.ask.phrasing import NO_QUESTION, brief_request
from tasks.experts.integrate.model_decider import Ask, ModelDecider, source_values
from tasks.experts.knowledge import NeedExample
from tasks.models.call import Request
from tasks.models.measures import MeasuredAnswer
from tasks.models.prompts.prompt import examples, load_prompt
from tasks.text.question import Question

UNSURE = 0.5
"""The surprise, in nats per token, from which an answer is in doubt if there are no examples.

SmolLM2's answers without knowledge lie above, those from a text that it understood below; measured
on questions about encyclopedia articles and films (docs/log.md).
"""


class BriefDecider(ModelDecider):
    """Decides by the certainty of short answers; is asked what it wants to know like any model."""

    def __init__(self, ask: Ask, question: Question, learned: Sequence[NeedExample] = ()) -> None:
        """Take a question without its choices, and questions that the model was asked before."""
        super().__init__(ask, question.language, paraphrases=1)
        self._question, self._unsure = question, unsure_from(learned)

    def needs_more(self, question: str, knowledge: Sequence[str]) -> float | None:
        """Return 1 if the model's answer from this knowledge is in doubt, else 0; None without."""
        reply = self._ask(brief_request(self._question, (), knowledge), MeasuredAnswer)
        if not isinstance(reply, MeasuredAnswer) or reply.surprise is None:
            return None
        return float(reply.surprise >= self._unsure)

    def choose(
        self, question: str, knowledge: Sequence[str], descriptions: Mapping[str, str]
    ) -> str | None:
        """Return the expert whose name fits the question best.

        It cannot choose none, because it was already decided that more is needed.
        """
        values = source_values(self._question.text, knowledge, descriptions)
        reply = self._ask(self._source(values, tuple(descriptions)), MeasuredAnswer)
        return reply.answer if isinstance(reply, MeasuredAnswer) else None

    def _source(self, values: Mapping[str, str], names: tuple[str, ...]) -> Request:
        prompt = load_prompt("source", self._language)

        def shown(values: Mapping[str, str]) -> str:
            return f"{prompt.request(values, most_tokens=1).user}\nSource:"

        before = "".join(
            f"{shown(example['values'])} {source}\n\n"
            for example in examples("source")[self._language]
            if (source := example["reply"]["source"]) != "none"
        )
        return Request(
            purpose="source",
            prompt_sha=prompt.sha,
            system="",
            user=before + shown(values),
            reply=MeasuredAnswer,
            most_tokens=1,
            plain=True,
            continued=True,
            choices=names,
            unasked=before + shown({**values, "question": NO_QUESTION}),
        )


def unsure_from(learned: Sequence[NeedExample]) -> float:
    """Return the surprise from which answers are in doubt, by examples of right and wrong ones.

    It is the threshold of the best balanced accuracy; `UNSURE` if all are right or all wrong.
    """
    known = [example for example in learned if example.surprise is not None]
    surprise = np.array([example.surprise for example in known], float)
    right = np.array([example.right for example in known], bool)
    if right.all() or not right.any():
        return UNSURE
    ordered = np.unique(surprise)
    cuts = np.concatenate([ordered, [ordered[-1] + 1e-6]])
    balanced = [(surprise[right] < cut).mean() + (surprise[~right] >= cut).mean() for cut in cuts]
    return float(cuts[int(np.argmax(balanced))])
