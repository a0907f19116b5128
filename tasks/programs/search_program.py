"""Searches several knowledge bases at once by programs written for a question.

A program is written, run over every knowledge base in parallel, and written once more if it failed
or found nothing; the writer then sees the error and the existing relations. With more than one
round the writer sees the results and may search again (KnowledGPT's first limitation).
"""

from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass, field, replace
from itertools import accumulate
from typing import Protocol

from schemas.answers import Evidence
from tasks.models.encoders.load import Encoder
from tasks.models.prompts.replies import AnswerReply, Program
from tasks.programs.code_text import quoted_texts, readable_code
from tasks.programs.entities import Chooser, Entities
from tasks.programs.functions import FunctionCall
from tasks.programs.knowledge_bases.protocol import KnowledgeBase, Place
from tasks.programs.limits import Limits
from tasks.programs.program_run import DEFAULT_LIMITS, ProgramRun, run_program
from tasks.text.names import normalise_name
from tasks.text.question import Question

MOST_ROUNDS = 4
MOST_RELATIONS = 60  # shown to a writer
MOST_NAMES = 8  # names in a program whose relations are shown if no call got that far
LONGEST_SHOWN = 4_000  # characters of messages shown to a writer
MOST_EVIDENCE = 50
LONGEST_EVIDENCE = 2_000  # characters


@dataclass(frozen=True, slots=True)
class Hint:
    """The information that a writer gets besides the question; empty the first time."""

    relations: tuple[str, ...] = ()
    error: str = ""
    code: str = ""
    messages: tuple[str, ...] = ()
    entities: tuple[str, ...] = ()  # that the question names, each with its relations
    final: bool = False  # whether results may suffice, so that a reply may lack a program


NO_HINT = Hint()


class Writer(Protocol):
    """A writer of programs: a language model, or the embedded planner."""

    def write(self, question: Question, relations_hint: Hint) -> Program | None:
        """Return a program for a question; None if the writer has none."""
        ...


@dataclass(frozen=True, slots=True)
class Searched:
    """The results of a search; `program` is the one whose messages count."""

    program: str | None = None
    need_knowledge: bool = True
    runs: list[ProgramRun] = field(default_factory=list)
    error: str | None = None

    @property
    def found(self) -> bool:
        """Whether any knowledge base returned anything."""
        return any(run.found for run in self.runs)

    @property
    def knowledge(self) -> list[str]:
        """All messages and explanations, once each, in the order of the knowledge bases."""
        return list(dict.fromkeys(line for run in self.runs for line in run.knowledge))

    @property
    def answers(self) -> list[str]:
        """The values that programs collected, once each whatever their spelling.

        The id of a blank node, which means nothing outside of its file, is none.
        """
        once: dict[str, str] = {}
        for run in self.runs:
            for answer in run.answers:
                if answer.startswith("_:"):
                    continue
                once.setdefault(normalise_name(answer) or answer, answer)
        return list(once.values())

    @property
    def calls(self) -> list[tuple[ProgramRun, FunctionCall]]:
        """Every call with the run it belongs to."""
        return [(run, call) for run in self.runs for call in run.calls]

    @property
    def evidence(self) -> list[Evidence]:
        """The facts and texts behind calls: those that led to an answer first, then by score."""
        answers = set(self.answers)
        once: dict[tuple[str, str], tuple[bool, Evidence]] = {}
        for run, call in self.calls:
            for leads, evidence in _evidence(call, run.graph, answers):
                once.setdefault((evidence.graph, evidence.text), (leads, evidence))
        ordered = sorted(once.values(), key=lambda pair: (not pair[0], -pair[1].score))
        return [evidence for _, evidence in ordered[:MOST_EVIDENCE]]


class Phraser(Protocol):
    """Phrases an answer from messages."""

    def phrase(self, question: Question, knowledge: list[str]) -> AnswerReply | None:
        """Return an answer; None if there is no usable one."""
        ...


@dataclass(frozen=True, slots=True)
class ProgramAnswer:
    """An answer, None if there is none; its citations are the evidence, never words in its text."""

    answer: str | None
    answers: list[str]
    evidence: list[Evidence]
    searched: Searched


class ProgramSearch:
    """Searches knowledge bases by programs from a writer."""

    def __init__(
        self,
        writer: Writer,
        kbs: Sequence[KnowledgeBase],
        *,
        chooser: Chooser | None = None,
        encoder: Encoder | None = None,
        limits: Limits = DEFAULT_LIMITS,
        rounds: int = 1,
    ) -> None:
        """With more than one of `rounds`, the writer may search again after seeing results."""
        self._writer, self._kbs = writer, list(kbs)
        self._chooser, self._encoder, self._limits = chooser, encoder, limits
        self._rounds = min(max(rounds, 1), MOST_ROUNDS)

    def search(self, question: Question, first: Hint = NO_HINT) -> Searched:
        """Return the results of programs; none if the question needs no knowledge.

        `first` is what the writer knows before it has written anything.
        """
        searched = self._round(question, first)
        for _ in range(1, self._rounds):
            if not searched.need_knowledge or not searched.found:
                break
            hint = replace(self._hint(question, searched), final=True)
            more = self._round(question, hint)
            if not more.need_knowledge or not more.runs or more.program == searched.program:
                break
            searched = _together(searched, more)
        return searched

    def run(self, question: Question, code: str) -> list[ProgramRun]:
        """Run one program over every knowledge base, in parallel."""

        def run_over(kb: KnowledgeBase) -> ProgramRun:
            return run_program(
                code, kb, question.text, self._limits, chooser=self._chooser, encoder=self._encoder
            )

        if len(self._kbs) == 1:
            return [run_over(self._kbs[0])]
        with ThreadPoolExecutor(max(len(self._kbs), 1)) as pool:
            return list(pool.map(run_over, self._kbs))

    def _round(self, question: Question, hint: Hint) -> Searched:
        """Write and run a program, and another if it failed, found nothing or was not trusted."""
        first, trusted = self._once(question, hint)
        if not first.need_knowledge or (first.program is None and not hint.final):
            return first
        if trusted and first.found and not first.error:
            return first
        second, _ = self._once(question, self._hint(question, first))
        if not second.runs or (first.found and not second.found):
            return first
        return _together(first, second) if first.found else second

    def _once(self, question: Question, hint: Hint) -> tuple[Searched, bool]:
        reply = self._writer.write(question, hint)
        if reply is None:
            return Searched(error="no program was written"), False
        if reply.need_knowledge == "no":
            return Searched(need_knowledge=False), True
        code = readable_code(reply.code)
        if not code.strip():
            return Searched(error="the program is empty"), False
        runs = self.run(question, code)
        errors = [run.error for run in runs if run.error]
        # A program that fails on one knowledge base is no failure if it works on another.
        error = errors[0] if len(errors) == len(runs) and errors else None
        return Searched(code, True, runs, error), reply.ok == "yes"

    def _hint(self, question: Question, searched: Searched) -> Hint:
        relations = dict.fromkeys(name for _, call in searched.calls for name in call.relations)
        if not relations and searched.program:
            relations = dict.fromkeys(self._relations_named(question, searched.program))
        return Hint(
            relations=tuple(relations)[:MOST_RELATIONS],
            error=searched.error or ("" if searched.found else "nothing was found"),
            code=searched.program or "",
            messages=_shown(searched.knowledge),
        )

    def _relations_named(self, question: Question, code: str) -> Iterable[str]:
        """Yield the relations around the names in a program that failed before its first call."""
        for kb in self._kbs:
            entities = Entities(kb, question.text, None)
            for name in quoted_texts(code)[:MOST_NAMES]:
                for entity in entities.link([name])[:1]:
                    yield from entities.relations(entity)


def _together(first: Searched, second: Searched) -> Searched:
    """Return two searches as one; the later program's answers count, if it has any."""
    keep = first.runs
    if any(run.answers for run in second.runs):
        keep = [replace(run, answers=[]) for run in first.runs]
    return replace(second, runs=[*keep, *second.runs])


def _shown(messages: list[str]) -> tuple[str, ...]:
    lengths = accumulate(map(len, messages))
    pairs = zip(messages, lengths, strict=True)
    return tuple(message for message, length in pairs if length <= LONGEST_SHOWN)


def _evidence(call: FunctionCall, graph: str, answers: set[str]) -> Iterator[tuple[bool, Evidence]]:
    """Yield the evidence of a call, each with whether it led to an answer."""

    def evidence(text: str, kind: str, score: float, place: Place | None) -> Evidence:
        where = asdict(place) if place else {}
        return Evidence(text=text[:LONGEST_EVIDENCE], kind=kind, graph=graph, score=score, **where)

    for fact in call.facts[: 4 * MOST_EVIDENCE]:
        ends = (fact.entity.name, fact.text)
        head, tail = ends[::-1] if fact.inverse else ends
        text = fact.words or f"{head}, {fact.relation}: {tail}"
        score = min(1.0, call.similarity * fact.confidence)
        yield fact.text in answers, evidence(text, fact.kind, score, fact.place)
    if call.description:
        leads = bool(answers & set(call.results))
        yield leads, evidence(call.description, "description", call.similarity, call.place)


def answer_by_program(
    question: Question, search: ProgramSearch, phraser: Phraser | None = None
) -> ProgramAnswer:
    """Return the answer that programs lead to.

    A phraser, if given, reads the messages and decides on the answer; it may find that they hold
    none. Without a usable reply, the values that a program collected are the answer.
    """
    searched = search.search(question)
    reply = phraser.phrase(question, searched.knowledge) if phraser else None
    values = searched.answers
    if reply is None:
        answer = values[0] if values else None
    else:
        answer = reply.answer if reply.answerable == "yes" and reply.answer else None
    if answer is None:
        return ProgramAnswer(None, [], [], searched)
    # The values are the answer if it is one of them or names them all.
    listed = answer in values or (values and all(value in answer for value in values))
    return ProgramAnswer(answer, values if listed else [answer], searched.evidence, searched)
