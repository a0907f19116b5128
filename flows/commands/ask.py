"""`almanac ask`: answers one question, or one after another, with the sources of each answer."""

import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from datetime import date
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from pydantic import field_validator, model_validator

from flows import terminal
from flows.jobs import (
    MODEL,
    READER,
    WHERE,
    Call,
    Configured,
    finer,
    operand,
    option,
    switch,
)
from flows.terminal import Shown
from schemas.answers import MIN_SCORE, Answer, Evidence, Gating, Way
from schemas.errors import UsageError
from schemas.labels import HeldLabels, labels_of_reader
from schemas.operations import ExpertDecision
from schemas.settings import Settings, changed_settings
from tasks.text.english_words import counted

if TYPE_CHECKING:
    from tasks.ask.route import AskOptions, Turn, Watcher
    from warehouse.editions import Edition
    from warehouse.home import Home

QUOTED_CHARS = 300
PATIENCE_SECONDS = 20.0  # of somebody who waits for an answer
_DAY = len("2026-11-22")
SHOWN_EVIDENCE = 5
SHOWN_ANSWERS = 20
CAUSES = {
    "score": "knowledge was fetched",
    "known_name": "the question names what the corpus knows, so knowledge was fetched",
    "no_score": "without a score knowledge is always fetched",
    "no_answer": "the model had no answer by itself, so knowledge was fetched after all",
}


class Asking(Configured):
    """What decides how questions are answered, one or a file of them."""

    shortcuts = MODEL

    route: Literal["auto", "programs", "paths", "text", "experts", "none"] = option(
        None,
        "Answer by programs over graphs, by paths in a graph, from the texts, by "
        "experts, by none of these, or by what fits.",
        "auto",
    )
    graph: str | None = option("NAME", "Ask this graph alone, by programs or paths (all).", None)
    expert: str | None = option("NAME", "Ask this expert alone (all).", None)
    rounds: int | None = option(
        "N",
        "How often a model may search, four times at most (twice where it reads, once by "
        "programs).",
        None,
        ge=1,
        le=4,
    )
    style: Literal["short", "full"] = option(
        None, "How a model answers: in one sentence, or in a few.", "full"
    )
    memory: bool = switch("Let a model also say what it knows by itself, marked as such.")
    min_score: float = finer("Least probability of an answer from texts.", MIN_SCORE, ge=0, le=1)
    as_of: date | None = option(
        "DATE",
        "The last edition that was built on this day (UTC) or before, such as "
        "2026-03-31 (the current one).",
        None,
    )
    where: str | None = WHERE
    edition: str | None = finer("An older edition, by its id.", None)
    without: list[str] = finer(
        "Parts of the query to leave out: gate, programs, planner, paths, bandit, text, experts, "
        "filters or trust (those that were measured not to help).",
        [],
    )

    @model_validator(mode="after")
    def _of_one_edition(self) -> "Asking":
        """Refuse two ways to name an edition."""
        if self.edition and self.as_of:
            raise ValueError("--as-of and --set edition=ID both name an edition; give one")
        return self

    @property
    def chosen_settings(self) -> Settings:
        """The settings that apply; an ontology has no part in answers, so a bad one is no error."""
        from flows.home import reading_settings_of

        return self.settings or reading_settings_of(self.place)

    @property
    def ask_options(self) -> "AskOptions":
        """These options, as routes read them."""
        from tasks.ask.route import AskOptions

        return AskOptions(
            self.route,
            self.graph,
            self.rounds,
            self.expert,
            self.min_score,
            self.style,
            self.memory,
            frozenset(self.without),
            where=self.where,
        )


class Ask(Asking):
    """Answer a question, with sources."""

    question: list[str] = operand("QUESTION", "The question, in quotes or without.", [])
    interactive: bool = switch(
        "Ask the questions on standard input, one a line, typed or of a file (< FILE); with "
        "--json, one object per line.",
        also=("-i",),
    )
    choices: list[str] = option(
        "CHOICE", "One of the possible answers; may be repeated (any answer).", []
    )
    stream: bool = switch("Show text while it is written, as on a terminal.")
    explain: bool = switch("Show the program, all evidence and the gate's choice.")
    reader: HeldLabels = READER
    picture: str | None = option(
        "FILE", "Draw the paths behind the answer as an SVG in this file (none).", None
    )

    @field_validator("picture")
    @classmethod
    def _is_svg(cls, picture: str | None) -> str | None:
        """Refuse a name that promises another format."""
        if picture and Path(picture).suffix.lower() != ".svg":
            raise ValueError(f"{picture} must end in .svg")
        return picture

    @model_validator(mode="after")
    def _asks_something(self) -> "Ask":
        """Refuse calls in which an option has no meaning."""
        if not self.question and not self.interactive:
            raise ValueError("give a question, or -i to ask one after another")
        if self.choices and (self.interactive or len(self.choices) == 1):
            raise ValueError("give --choices at least twice, and one question instead of -i")
        if self.picture and self.interactive:
            raise ValueError("give --picture without -i: it shows the paths of one answer")
        return self

    def run(self, call: Call) -> int:
        """Answer the question and, with -i, every question that is typed; record the answers."""
        from flows.home import edition_of
        from tasks.ask.route import turn_of
        from tasks.text.question import checked_question

        home = self.place
        first = [checked_question(" ".join(self.question))] if self.question else []
        typed = _typed_questions() if self.interactive else ()
        edition = edition_of(home, self.edition, self.as_of, labels_of_reader(self.reader))
        unseen = self.interactive and not sys.stdin.isatty()  # nobody typed them here
        settings = _impatient(self.chosen_settings)
        streams = not call.json and (self.stream or sys.stdout.isatty())
        turns: list[Turn] = []
        with _asking(home, edition, settings, self.ask_options) as answer_of:
            for number, question in enumerate(chain(first, typed)):
                shown = _Screen() if streams else None
                watcher = shown.watcher if shown else None
                answer = answer_of(question, self.choices, turns, watcher)
                turns.append(turn_of(answer))
                if self.picture:
                    _draw(answer, Path(self.picture))
                if not call.json:
                    if unseen:
                        terminal.show("\n" * (number > 0) + f"? {terminal.one_line(question)}")
                    words = answer_in_words(answer, explain=self.explain)
                    terminal.print_shown(shown.rest_of(answer, words) if shown else words)
                    if self.where is None:
                        _show_other_values(edition, answer)
                elif self.interactive:  # one object per line
                    terminal.show(terminal.json_line(answer.model_dump_json()))
                else:
                    terminal.show_json(answer.model_dump(mode="json"))
        return 0


class _Screen:
    """Shows an answer while a model writes it: where its sources are from, then its text."""

    def __init__(self) -> None:
        from tasks.ask.route import Watcher

        self.watcher = Watcher(self._sources, self._text)
        self._shown = ""

    def _sources(self, places: Sequence[str]) -> None:
        names = [terminal.one_line(place) for place in places[:SHOWN_EVIDENCE]]
        more = f" and {len(places) - len(names)} more" if len(places) > len(names) else ""
        if names:
            terminal.say(f"Reading {', '.join(names)}{more} …")

    def _text(self, piece: str) -> None:
        self._shown += piece
        terminal.show_piece(piece)

    def rest_of(self, answer: Answer, words: Iterator[Shown]) -> Iterator[Shown]:
        """Yield what of an answer is not on the screen; its text again if it changed since."""
        if not self._shown:
            yield from words
            return
        terminal.show("")
        first = next(words)
        if (answer.answer or "").replace(" [?]", "") != self._shown.strip():
            yield f"Corrected: {first}"
        yield from words


def _show_other_values(edition: "Edition", answer: Answer) -> None:
    """Print what other texts say instead, as `conflicts` tells, and what is true of namesakes."""
    from tasks.ask.answer import other_values, values_of_namesakes

    others = other_values(edition, answer)
    if others:
        values = "; ".join(terminal.one_line(f"{value} ({place})") for value, place in others)
        terminal.show(f"  Other texts say: {values}; see the table conflicts.")
    for name, value, uri in values_of_namesakes(edition, answer):
        terminal.show(f"  Another {terminal.one_line(f'{name}: {value} ({uri})')}")


def _draw(answer: Answer, picture: Path) -> None:
    """Write the paths behind an answer as an SVG; say so if there are none."""
    from tasks.report.drawings import draw_paths

    paths = [evidence.path for evidence in answer.evidence if evidence.path]
    if not paths:
        terminal.say("No path of a graph led to this answer, so there is no picture.")
        return
    picture.write_text(draw_paths(paths, answer.answer), encoding="utf-8")


def _typed_questions() -> Iterator[str]:
    """Yield the questions that are typed, one per line, until an empty line or the end of input."""
    from tasks.text.question import checked_question

    prompt = "? " if sys.stdin.isatty() else ""
    if prompt:
        terminal.say("Ask away; an empty line ends.")
    while True:
        try:
            line = input(prompt)
        except EOFError:
            return
        if not line.strip():
            return
        try:
            yield checked_question(line)
        except UsageError as error:
            terminal.say(str(error))


def ask(home: "Home", question: str, options: "AskOptions | None" = None) -> Answer:
    """Return the answer to a question, and record it among the live records."""
    from flows.home import edition_of, reading_settings_of

    with _asking(home, edition_of(home, None), reading_settings_of(home), options) as answer_of:
        return answer_of(question, (), (), None)


@contextmanager
def _asking(
    home: "Home", edition: "Edition", settings: Settings, options: "AskOptions | None"
) -> Iterator[Callable[[str, Sequence[str], Sequence["Turn"], "Watcher | None"], Answer]]:
    """Yield a function that answers from one edition and records answers; then print warnings."""
    from tasks.ask.asker import Asker

    home.ledger.required = False
    with (
        edition.pinned() as pinned,
        Asker(home, pinned, settings, options) as asker,
    ):

        def answer_of(
            question: str,
            choices: Sequence[str],
            history: Sequence["Turn"],
            watcher: "Watcher | None",
        ) -> Answer:
            answer = asker.answer(question, choices, history, watcher)
            keep_answers(home, answer)
            return answer

        yield answer_of
        warnings = asker.warnings
    for warning in warnings:
        terminal.say(warning)


def keep_answers(home: "Home", *answers: Answer) -> None:
    """Record answers among the live records; warn if they cannot be written."""
    from tasks.ask.keep_answers import record_answers
    from warehouse.disk_errors import warned_of_refusals

    with warned_of_refusals(home.path, "the answer was not recorded.", terminal.say):
        record_answers(home, *answers)


def _impatient(settings: Settings) -> Settings:
    """Return the settings, with less patience with an endpoint that answers nothing."""
    patience = min(settings.engine.model.patience_seconds, PATIENCE_SECONDS)
    return changed_settings(settings, {"engine.model.patience_seconds": patience})


def answer_in_words(answer: Answer, *, explain: bool = False) -> Iterator[Shown]:
    """Yield the answer and its sources; `explain` adds other candidates, program and gate.

    Sources that the answer cites have its numbers.
    """
    sure = f"  ({answer.probability:.0%} sure)" if answer.probability is not None else ""
    yield _words(answer) + sure
    cited = answer.found is not None and bool(answer.answer or "[1]" in (answer.remark or ""))
    if answer.evidence and not (answer.answer or cited):
        yield f"The nearest {'passages' if answer.evidence[0].document_id else 'facts'}:"
    shown = answer.evidence if explain or cited else answer.evidence[:SHOWN_EVIDENCE]
    for number, evidence in enumerate(shown, 1):
        mark = f"[{number}] " if cited else ""
        plain = evidence.document_id is None and evidence.expert is None  # words of a graph
        yield f"  {mark}“{terminal.quoted(evidence.text, QUOTED_CHARS, plain=plain)}”"
        yield f"  {' ' * len(mark)}— {place_of(evidence)}"
    if len(shown) < len(answer.evidence):
        yield f"  … and {counted(len(answer.evidence) - len(shown), 'more place')} (--explain)."
    for old in answer.earlier:
        yield f"  Earlier: “{terminal.quoted(old.text, QUOTED_CHARS)}” — {place_of(old)}"
    if answer.unsupported:
        yield "  [?] No quotation bears this out."
    if answer.answer and answer.route == "none":
        yield "  From the model's own memory, not from the almanac."
    if explain:
        yield from _explained(answer)


def _explained(answer: Answer) -> Iterator[Shown]:
    """Yield how an answer came about."""
    if _is_set(answer) and answer.answers[SHOWN_ANSWERS:]:
        yield f"  the other answers: {'; '.join(answer.answers[SHOWN_ANSWERS:])}"
    alternatives = answer.others if _is_set(answer) else [*answer.answers[1:], *answer.others]
    if alternatives:
        yield f"  also possible: {'; '.join(alternatives)}"
    for evidence in answer.evidence:
        yield f"  {_kind(evidence)}, score {evidence.score:.2f}"
    yield from (f"  | {line}" for line in (answer.program or "").splitlines())
    yield from (f"  {expert_words(decision)}" for decision in answer.decisions)
    if answer.gating:
        yield f"  {gate_words(answer.gating)}"
    if answer.way:
        yield from (f"  {line}" for line in _way_words(answer.way))
    usage = answer.usage
    cost = f", cost {usage.cost:.6f}" if usage.cost else ""
    yield (
        f"  route {answer.route}, edition {answer.edition}, {answer.seconds:.2f} s, "
        f"{counted(usage.calls, 'model call')}, {usage.tokens_in} and {usage.tokens_out} tokens"
        f"{cost}, question {answer.question_id}"
    )


def _way_words(way: Way) -> Iterator[str]:
    """Yield how an answer was found, a line for each part of the way."""
    for said in way.routes:
        sure = "" if said.probability is None else f" ({said.probability:.0%})"
        words = "no answer" if said.answer is None else terminal.one_line(said.answer)
        yield f"{said.route}: {words}{sure}, {said.seconds:.2f} s"
    if way.not_asked:
        yield f"not asked, for the answer is sure enough: {', '.join(way.not_asked)}"
    if way.rounds:
        yield from _reading_words(way)


def _reading_words(way: Way) -> Iterator[str]:
    items = ", ".join(f"{count} from {route}" for route, count in way.items.items())
    out = ", ".join(f"{count} {reason}" for reason, count in way.left_out.items())
    yield f"sources: {items or 'none'}" + (f"; left out: {out}" if out else "")
    if way.searches:
        yield f"searched further: {terminal.one_line('; '.join(way.searches))}"
    if way.computed:
        yield "a search program was asked for"
    repaired = "; asked again for quotations" if way.repaired else ""
    claims = counted(way.claims, "claim was", "claims were")
    yield (
        f"read {counted(way.rounds, 'time')}; {way.located} of {way.quotations} quotations stand "
        f"in their source, {claims} checked{repaired}"
    )


def _words(answer: Answer) -> str:
    """Return the answer's text; several if the answers are a set."""
    if not answer.answer:
        unknown = "".join(
            f" No entity is known by “{terminal.one_line(n)}”." for n in answer.unknown
        )
        remark = f" {terminal.one_line(answer.remark)}" if answer.remark else ""
        return f"The almanac does not know.{remark}{unknown}"
    if answer.found is not None or not _is_set(answer):
        return answer.answer
    more = len(answer.answers) - SHOWN_ANSWERS
    shown = "; ".join(answer.answers[:SHOWN_ANSWERS])
    return f"{shown}; and {more} more" if more > 0 else shown


def _is_set(answer: Answer) -> bool:
    """Return whether all answers are right together; those of experts are alternatives."""
    return not any(evidence.kind == "expert" for evidence in answer.evidence)


def expert_words(decision: ExpertDecision) -> str:
    """Return a description of one decision made while asking the experts."""
    score = "" if decision.score is None else f", score {decision.score:.2f}"
    if decision.kind == "need":
        what = "more is needed" if decision.decision == "yes" else "no more is needed"
        return f"{what} ({decision.reason}{score})"
    if decision.kind == "wanted":
        return f"wanted: {terminal.one_line(decision.decision)}"
    if decision.kind == "expert":
        return f"asked: {decision.decision} ({decision.reason}{score})"
    why = f" ({decision.reason})" if decision.reason else ""
    words = terminal.quoted(decision.text or "", QUOTED_CHARS)
    score += f", agreement {decision.agreement:.2f}" if decision.agreement is not None else ""
    return f"{decision.decision}{why}: {decision.expert} wrote “{words}”{score}"


def _kind(evidence: Evidence) -> str:
    if evidence.expert is not None:
        return f"text of the expert {evidence.expert.expert}"
    if evidence.document_id is None:
        arm = f", by {evidence.path.arm}" if evidence.path and evidence.path.arm else ""
        return f"{evidence.kind} from the graph {evidence.graph}{arm}"
    return (
        f"{evidence.kind} from {evidence.document_id}, characters {evidence.span_start} to "
        f"{evidence.span_end}"
    )


def place_of(evidence: Evidence) -> str:
    """Return the location, author and date of a piece of evidence, in one line."""
    if evidence.expert is not None:
        return terminal.one_line(f"the expert {evidence.expert.expert}")
    place = terminal.one_line(evidence.cited_as)
    page = f"page {evidence.page}" if evidence.page else None
    written = map(terminal.one_line, (evidence.author or "", (evidence.date or "")[:_DAY]))
    return ", ".join(filter(None, (place, page, *written)))


def gate_words(gating: Gating) -> str:
    """Return what the gate decided and why."""
    if gating.cause == "no_score" and gating.task is None:
        return "gate: it could not be asked, so knowledge was fetched"
    if gating.task is None:
        fetched = ", so knowledge was fetched" if gating.retrieve else ""
        return f"gate: the question resembles no calibrated task{fetched}"
    gate = (gating.gate or "").partition(" ")[0]
    score = "no score" if gating.score is None else f"score {gating.score:.4g}"
    line = f"gate {gate} of the task {gating.task}: {score}"
    if gating.retrieve is None:
        return f"{line}; there was nothing to decide"
    line += "" if gating.threshold is None else f", threshold {gating.threshold:.4g}"
    line += f", budget {gating.budget or 0:.0%}; "
    if not gating.retrieve:
        return f"{line}the model answered by itself"
    if gating.cause == "current":
        words = terminal.one_line(gating.words or "")
        return f"{line}“{words}” asks for something current, so knowledge was fetched"
    return line + CAUSES[gating.cause or "score"]


COMMAND = Ask
