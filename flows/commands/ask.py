"""`almanac ask`: answers questions, with sources; it never starts a server."""

import argparse
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from itertools import chain
from pathlib import Path

from flows import terminal
from flows.commands.gate_words import gate_words
from flows.home import edition_of, home_of, reading_settings_of, settings_of
from flows.jobs import keep_answers
from flows.model_options import with_model_options
from schemas.answers import Answer, Evidence
from schemas.errors import UsageError
from schemas.knowledge import CORPUS
from schemas.operations import ExpertDecision
from schemas.settings import Settings
from tasks.ask.route import AskOptions
from tasks.text.question import checked_question
from warehouse.editions import Edition
from warehouse.home import Home

QUOTED_CHARS = 300
PATIENCE_SECONDS = 20.0  # of somebody who waits for an answer
_DAY = len("2026-11-22")
SHOWN_EVIDENCE = 5
SHOWN_ANSWERS = 20


def run(arguments: argparse.Namespace) -> int:
    """Answer the question and, with -i, every question that is typed; record the answers."""
    if not arguments.question and not arguments.interactive:
        raise UsageError("Give a question, or -i to ask one after another.")
    choices = arguments.choices
    if choices and (arguments.interactive or len(choices) == 1):
        raise UsageError("Give --choices at least twice, and one question instead of -i.")
    if arguments.picture and arguments.interactive:
        raise UsageError("Give --picture without -i: it shows the paths of one answer.")
    if arguments.picture and Path(arguments.picture).suffix.lower() != ".svg":
        raise UsageError(f"{arguments.picture} must end in .svg.")
    home = home_of(arguments)
    first = [checked_question(" ".join(arguments.question))] if arguments.question else []
    typed = _typed_questions() if arguments.interactive else ()
    settings, options = _impatient(gated_settings(home, arguments)), options_of(arguments)
    edition = edition_of(home, arguments.edition, arguments.as_of)
    unseen = arguments.interactive and not sys.stdin.isatty()  # nobody typed them here
    with _asking(home, edition, settings, options) as answer_of:
        for number, question in enumerate(chain(first, typed)):
            answer = answer_of(question, choices)
            if arguments.picture:
                _draw(answer, Path(arguments.picture))
            if not arguments.json:
                if unseen:
                    terminal.show("\n" * (number > 0) + f"? {terminal.one_line(question)}")
                show_answer(answer, explain=arguments.explain)
                _show_other_values(home, answer)
            elif arguments.interactive:  # one object per line
                terminal.show(terminal.json_line(answer.model_dump_json()))
            else:
                terminal.show_json(answer.model_dump(mode="json"))
    return 0


def _show_other_values(home: Home, answer: Answer) -> None:
    """Print what other texts say instead, as the table `conflicts` tells."""
    from tasks.ask.answer import other_values

    others = other_values(home.editions.open(answer.edition), answer)
    if others:
        values = "; ".join(terminal.one_line(f"{value} ({uri})") for value, uri in others)
        terminal.show(f"  Other texts say: {values}; see the table conflicts.")


def _draw(answer: Answer, picture: Path) -> None:
    """Write the paths behind an answer as an SVG; say so if there are none."""
    from tasks.paths.pictures import draw_paths

    paths = [evidence.path for evidence in answer.evidence if evidence.path]
    if not paths:
        terminal.say("No path of a graph led to this answer, so there is no picture.")
        return
    picture.write_bytes(draw_paths(paths, answer.answer))


def _typed_questions() -> Iterator[str]:
    """Yield the questions that are typed, one per line, until an empty line or the end of input."""
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


def ask(home: Home, question: str, options: AskOptions | None = None) -> Answer:
    """Return the answer to a question, and record it among the live records."""
    with _asking(home, edition_of(home, None), reading_settings_of(home), options) as answer_of:
        return answer_of(question, ())


@contextmanager
def _asking(
    home: Home, edition: Edition, settings: Settings, options: AskOptions | None
) -> Iterator[Callable[[str, Sequence[str]], Answer]]:
    """Yield a function that answers from one edition and records answers; then print warnings."""
    from tasks.ask.asker import Asker

    home.ledger.required = False
    with (
        edition.pinned() as pinned,
        Asker(home, pinned, settings, options) as asker,
    ):

        def answer_of(question: str, choices: Sequence[str]) -> Answer:
            answer = asker.answer(question, choices)
            keep_answers(home, answer)
            return answer

        yield answer_of
        warnings = asker.warnings
    for warning in warnings:
        terminal.say(warning)


def options_of(arguments: argparse.Namespace) -> AskOptions:
    """Return the options of the command line that decide how questions are answered."""
    chosen = {} if arguments.min_score is None else {"min_score": arguments.min_score}
    return AskOptions(
        arguments.route, arguments.graph, arguments.rounds, arguments.expert, **chosen
    )


def asked_settings(home: Home, arguments: argparse.Namespace) -> Settings:
    """Return the settings, with the command line's model options in place of their own."""
    return _with_model(settings_of(home), arguments)


def _with_model(settings: Settings, arguments: argparse.Namespace) -> Settings:
    engine = with_model_options(settings.engine, arguments)
    return settings.model_copy(update={"engine": engine})


def _impatient(settings: Settings) -> Settings:
    """Return the settings, with less patience with an endpoint that answers nothing."""
    model = settings.engine.model
    patience = min(model.patience_seconds, PATIENCE_SECONDS)
    model = model.model_copy(update={"patience_seconds": patience})
    engine = settings.engine.model_copy(update={"model": model})
    return settings.model_copy(update={"engine": engine})


def gated_settings(home: Home, arguments: argparse.Namespace) -> Settings:
    """Return the settings, with the command line's options in place of their own."""
    settings = with_expert_mode(_with_model(reading_settings_of(home), arguments), arguments.mode)
    options = {"task": arguments.task, "budget": arguments.gate_budget}
    update = {name: value for name, value in options.items() if value is not None}
    if update or arguments.no_gate:
        update["use"] = not arguments.no_gate
    return settings.model_copy(update={"gate": settings.gate.model_copy(update=update)})


def with_expert_mode(settings: Settings, mode: str | None) -> Settings:
    """Return the settings with the command line's mode of asking experts, if it names one."""
    if mode is None:
        return settings
    return settings.model_copy(
        update={"experts": settings.experts.model_copy(update={"mode": mode})}
    )


def show_answer(answer: Answer, *, explain: bool = False) -> None:
    """Print the answer and its sources; `explain` adds other candidates, program and gate."""
    sure = f"  (sure to {answer.probability:.0%})" if answer.probability is not None else ""
    terminal.show(_words(answer) + sure)
    if answer.evidence and not answer.answer:
        terminal.show("The nearest passages:")
    shown = answer.evidence if explain else answer.evidence[:SHOWN_EVIDENCE]
    for evidence in shown:
        terminal.show(f"  “{terminal.quoted(evidence.text, QUOTED_CHARS)}”")
        terminal.show(f"  — {place_of(evidence)}")
    if len(shown) < len(answer.evidence):
        terminal.show(f"  … and {len(answer.evidence) - len(shown)} more places (--explain).")
    if explain:
        if _is_set(answer) and answer.answers[SHOWN_ANSWERS:]:
            terminal.show(f"  the other answers: {'; '.join(answer.answers[SHOWN_ANSWERS:])}")
        elif not _is_set(answer) and answer.answers[1:]:
            terminal.show(f"  also possible: {'; '.join(answer.answers[1:])}")
        for evidence in answer.evidence:
            terminal.show(f"  {_kind(evidence)}, score {evidence.score:.2f}")
        for line in (answer.program or "").splitlines():
            terminal.show(f"  | {line}")
        for decision in answer.decisions:
            terminal.show(f"  {expert_words(decision)}")
        if answer.gating:
            terminal.show(f"  {gate_words(answer.gating)}")
        terminal.show(
            f"  route {answer.route}, edition {answer.edition}, {answer.seconds:.2f} s, "
            f"{answer.usage.calls} model calls, question {answer.question_id}"
        )


def _words(answer: Answer) -> str:
    """Return the answer's text; several if the answers are a set."""
    if not answer.answer:
        unknown = "".join(
            f" No entity is known by “{terminal.one_line(n)}”." for n in answer.unknown
        )
        return f"The almanac does not know.{unknown}"
    if not _is_set(answer):
        return answer.answer
    more = len(answer.answers) - SHOWN_ANSWERS
    shown = "; ".join(answer.answers[:SHOWN_ANSWERS])
    return f"{shown}; and {more} more" if more > 0 else shown


def _is_set(answer: Answer) -> bool:
    """Return whether all answers are right, as from a graph, and no alternatives."""
    return any(e.graph != CORPUS and e.kind != "expert" for e in answer.evidence)


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
    return f"{decision.decision}{why}: {decision.expert} wrote “{words}”{score}"


def _kind(evidence: Evidence) -> str:
    if evidence.expert is not None:
        return f"text of the expert {evidence.expert.expert}"
    if evidence.document_id is None:
        return f"{evidence.kind} from the graph {evidence.graph}"
    return (
        f"{evidence.kind} from {evidence.document_id}, characters {evidence.span_start} to "
        f"{evidence.span_end}"
    )


def place_of(evidence: Evidence) -> str:
    """Return the location, author and date of a piece of evidence, in one line."""
    if evidence.expert is not None:
        return terminal.one_line(f"the expert {evidence.expert.expert}")
    place = terminal.one_line(evidence.uri or evidence.document_id or evidence.graph)
    page = f"page {evidence.page}" if evidence.page else None
    date = (evidence.date or "")[:_DAY]
    written = map(terminal.one_line, (evidence.author or "", date))
    return ", ".join(filter(None, (place, page, *written)))
