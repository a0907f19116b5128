"""Decisions by a language model: constrained replies, several wordings, its own examples."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from pydantic import BaseModel

from tasks.experts.knowledge import NeedExample
from tasks.models.call import Request
from tasks.models.prompts.prompt import load_prompt
from tasks.models.prompts.replies import Information, NeedsMore, Source

ROOM = {"needs_more": 40, "wanted_information": 120, "source": 300}  # tokens of a reply
LONGEST_DESCRIPTION = 300  # characters
MOST_EXAMPLES = 8  # of the model's own past questions, half of which needed more
QUOTES = " \t\"'`“”‘’「」"  # around a name
NOTHING = {"en": "none", "zh": "无"}
# The answer to each is yes if more is needed. Replies to wordings differ in a fifth of questions.
WORDINGS = {
    "en": (
        "Do you need more information to answer this?",
        "Would you have to look something up before you could answer for certain?",
        "Is a fact missing without which the answer would be a guess?",
    ),
    "zh": (
        "要回答这个问题，你还需要更多信息吗？",
        "要确切回答，你是否还得查阅资料？",
        "是否还缺少某个事实，以致只能猜测答案？",
    ),
}

Ask = Callable[[Request, type[Any]], BaseModel | None]


class ModelDecider:
    """Decides by asking a language model; invalid replies do not count as votes."""

    def __init__(
        self,
        ask: Ask,
        language: str,
        paraphrases: int,
        learned: Sequence[NeedExample] = (),
    ) -> None:
        """Ask by `ask`, in up to three wordings; `learned` are questions that it answered alone."""
        self._ask = ask
        self._language = "zh" if language == "zh" else "en"
        self._wordings = WORDINGS[self._language][:paraphrases]
        self._examples = shown_examples(learned, self._language)

    def needs_more(self, question: str, knowledge: Sequence[str]) -> float | None:
        """Return the share of the model's valid replies by which it needs more than is given.

        None if there is no valid reply.
        """
        prompt = load_prompt("needs_more", self._language, more=self._examples)
        votes: list[bool] = []
        for wording in self._wordings:
            values = self._values(question, knowledge) | {"wording": wording}
            reply = self._ask(prompt.request(values, most_tokens=ROOM["needs_more"]), NeedsMore)
            votes += [reply.more == "yes"] if isinstance(reply, NeedsMore) else []
        return sum(votes) / len(votes) if votes else None

    def wanted(self, question: str, knowledge: Sequence[str]) -> str | None:
        """Return the information that the model needs; None without a valid reply."""
        prompt = load_prompt("wanted_information", self._language)
        request = prompt.request(
            self._values(question, knowledge), most_tokens=ROOM["wanted_information"]
        )
        reply = self._ask(request, Information)
        if not isinstance(reply, Information):
            return None
        return one_line(reply.information) or None

    def choose(
        self, question: str, knowledge: Sequence[str], descriptions: Mapping[str, str]
    ) -> str | None:
        """Return the expert that the model names, perhaps with its description; None for none."""
        values = source_values(question, knowledge, descriptions)
        prompt = load_prompt("source", self._language)
        reply = self._ask(prompt.request(values, most_tokens=ROOM["source"]), Source)
        if not isinstance(reply, Source):
            return None
        by_name = {name.casefold(): name for name in descriptions}
        whole, name = reply.source, reply.source.partition(":")[0]
        spellings = (words.strip(QUOTES).casefold() for words in (whole, name))
        return next((by_name[words] for words in spellings if words in by_name), None)

    def _values(self, question: str, knowledge: Sequence[str]) -> dict[str, str]:
        lines = knowledge_lines(knowledge) or [f"Knowledge: {NOTHING[self._language]}"]
        return {"question": one_line(question), "knowledge": "\n".join(lines)}


def source_values(
    question: str, knowledge: Sequence[str], descriptions: Mapping[str, str]
) -> dict[str, str]:
    """Return the values of the prompt `source`: the question, and the experts' descriptions."""
    sources = "\n".join(
        f"{name}: {one_line(words)[:LONGEST_DESCRIPTION]}" for name, words in descriptions.items()
    )
    return {
        "question": "\n".join([one_line(question), *knowledge_lines(knowledge)]),
        "sources": sources,
    }


def knowledge_lines(knowledge: Sequence[str]) -> list[str]:
    """Return texts as lines of a prompt."""
    return [f"Knowledge: {one_line(text)}" for text in knowledge]


def one_line(text: str) -> str:
    """Return a text on one line, so that it cannot look like another part of a prompt."""
    return " ".join(text.split())


def shown_examples(learned: Sequence[NeedExample], language: str) -> list[dict[str, Any]]:
    """Return examples for a prompt, as many that needed more knowledge as that did not.

    Questions that the model answered correctly by itself need no more (CooK, section 2.6).
    """
    own = [example for example in learned if example.language == language]
    known = [example for example in own if example.right]
    unknown = [example for example in own if not example.right]
    pairs = list(zip(known, unknown, strict=False))[: MOST_EXAMPLES // 2]
    return [
        {
            "values": {
                "question": one_line(example.question),
                "knowledge": f"Knowledge: {NOTHING[language]}",
                "wording": WORDINGS[language][0],
            },
            "reply": {"more": "no" if example.right else "yes"},
        }
        for pair in pairs
        for example in pair
    ]
