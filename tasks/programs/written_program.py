"""Programs, choices and answers by a language model, through its client."""

import re
from collections import Counter
from collections.abc import Sequence
from itertools import accumulate
from threading import Lock
from typing import Any, TypeVar

from pydantic import BaseModel

from tasks.models.call import Request
from tasks.models.client import BlockingClient
from tasks.models.prompts import load_prompt
from tasks.models.prompts.replies import AnswerReply, Choice, Program
from tasks.programs.knowledge_bases.protocol import Candidate
from tasks.programs.messages import one_line
from tasks.programs.search_program import Hint
from tasks.text.question import (
    LONGEST_QUESTION,
    Demonstration,
    Question,
    analyse,
    with_choices,
)

ROOM = {"program": 1_500, "link": 300, "answer": 600}  # tokens of a reply
MOST_CANDIDATES = 20
LONGEST_INFO = 300  # characters of a candidate's description
LONGEST_KNOWLEDGE = 24_000  # characters of messages in the prompt of an answer

_Kind = TypeVar("_Kind", bound=BaseModel)


class Conversation:
    """Requests to the model about one question; `spent` counts its calls and tokens."""

    def __init__(self, client: BlockingClient) -> None:
        self._client = client
        self._lock = Lock()  # programs run over several knowledge bases at once
        self.spent: Counter[str] = Counter()

    @property
    def model_is_small(self) -> bool:
        """Whether the model is a small one, which handles a few words better than JSON."""
        return self._client.client.is_small

    def ask(self, request: Request, kind: type[_Kind]) -> _Kind | None:
        """Return the reply, None if none is valid; raises AlmanacError if none can come."""
        answer = self._client.ask(request)
        with self._lock:
            self.spent.update(answer.spent)
        return answer.reply if isinstance(answer.reply, kind) else None

    def write(self, question: Question, relations_hint: Hint) -> Program | None:
        """Return a program for a question (KnowledGPT's search prompt), None if none is usable."""
        values = {"question": question.text, "hint": hint_words(relations_hint)}
        return self.ask(_request("program", question.language, values), Program)

    def choose(
        self, question: str, aliases: list[str], candidates: list[Candidate], language: str = "en"
    ) -> list[Candidate]:
        """Return the candidates that a name means (KnowledGPT, figure 8), the likeliest first.

        There are none if none is meant, and several if one entity has several nodes. Without a
        usable reply the likeliest is taken. `language` is that of the question.
        """
        shown = candidates[:MOST_CANDIDATES]
        values = {
            "question": one_line(question, LONGEST_QUESTION),
            "aliases": ", ".join(one_line(alias) for alias in aliases),
            "candidates": "\n".join(
                f"[ENT {number}] {_candidate_words(candidate)}"
                for number, candidate in enumerate(shown, 1)
            ),
        }
        reply = self.ask(_request("link", language, values), Choice)
        if reply is None:
            return shown[:1]
        numbers = list(map(int, re.findall(r"\d+", reply.choice)))
        meant = [shown[number - 1] for number in numbers if number <= len(shown)]
        return meant or (shown[:1] if numbers else [])

    def phrase(
        self,
        question: Question,
        knowledge: list[str],
        demonstrations: Sequence[Demonstration] = (),
    ) -> AnswerReply | None:
        """Return an answer from messages (KnowledGPT's answer prompt), None if none is usable.

        Demonstrations follow the prompt's own examples.
        """
        values = {"question": question.text, "knowledge": fitted(knowledge, LONGEST_KNOWLEDGE)}
        shown = [_as_example(one) for one in demonstrations]
        prompt = load_prompt("answer", question.language, more=shown)
        return self.ask(prompt.request(values, most_tokens=ROOM["answer"]), AnswerReply)


def hint_words(hint: Hint) -> str:
    """Return the words of a hint, which follow the query in a prompt; empty for an empty hint."""
    parts = []
    if hint.code:
        parts.append(f"Your program before:\n{hint.code}")
    if hint.error:
        parts.append(f"What came of it: {one_line(hint.error)}")
    if hint.messages:
        parts.append("What it found:\n" + "\n".join(one_line(m, 1_000) for m in hint.messages))
    if hint.relations:
        parts.append("Relations that exist: " + ", ".join(one_line(r) for r in hint.relations))
    if hint.final:
        parts.append(
            'If this suffices, need_knowledge is "no"; else write a program for what is missing.'
        )
    elif parts:
        parts.append("Write a better program.")
    if hint.entities:
        known = "\n".join(one_line(entity, 1_000) for entity in hint.entities)
        parts.insert(0, f"Entities that exist, with their relations:\n{known}")
    return "".join(f"\n\n{part}" for part in parts)


def fitted(lines: list[str], room: int) -> str:
    """Return lines as one text of at most `room` characters; too long ones get equal shares.

    Each stays on one line, so that it cannot look like another part of a prompt.
    """
    lines = [one_line(line, len(line)) for line in lines]
    if sum(len(line) + 1 for line in lines) <= room:
        return "\n".join(lines)
    most = max(200, room // max(len(lines), 1) - 1)
    short = [one_line(line, most) for line in lines]
    lengths = accumulate(len(line) + 1 for line in short)
    return "\n".join(line for line, length in zip(short, lengths, strict=True) if length <= room)


def _candidate_words(candidate: Candidate) -> str:
    name = one_line(candidate.entity.name)
    others = [one_line(alias) for alias in candidate.aliases[:5] if alias != name]
    known_as = f"{name} ({', '.join(others)})" if others else name
    return f"{known_as}: {one_line(candidate.description, LONGEST_INFO)}"


def _as_example(shown: Demonstration) -> dict[str, Any]:
    """Return a demonstration in the form of the prompt's examples, without knowledge."""
    asked = with_choices(analyse(shown.question), shown.choices)
    reply = {"thought": "", "answerable": "yes", "answer": shown.answer}
    return {"values": {"question": asked.text, "knowledge": ""}, "reply": reply}


def _request(purpose: str, language: str, values: dict[str, str]) -> Request:
    return load_prompt(purpose, language).request(values, most_tokens=ROOM[purpose])
