"""Compares the arms of the route `paths` with the best fixed arm, a bandit, and an oracle.

    python -m benchmarks.arms_study QUESTIONS --format F --home HOME --graph NAME [--limit N]

A model, or vectors without one, reads what each strategy takes out of the graph, in each template.
Every arm answers every question, so that a bandit can be trained on training questions, for each of
which it learns the outcome of the arm that it chose only, and then measured on others (KnowGPT,
table 3). The figures go to the home's table `evaluations`.
"""

import argparse
import sys
import time
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import partial
from typing import Any

import numpy as np

from benchmarks.experts_study.measure import with_model
from benchmarks.study_command import run_as_command, study_parser
from flows import terminal
from flows.home import edition_of, settings_of
from schemas.errors import UsageError
from schemas.operations import Evaluation
from schemas.settings import Settings
from tasks.ask.parts import reader_name
from tasks.ask.path_reader import PathReader
from tasks.ask.phrasing import phrased_answer
from tasks.ask.route import AskOptions, Resources
from tasks.evaluate.metrics import summarise
from tasks.experts.filters.selection import Encode
from tasks.models.client import BlockingClient
from tasks.models.transports import open_client
from tasks.paths.bandit.context import AskedQuestion, ContextEncoding
from tasks.paths.bandit.linucb import SAMPLING, LinUCB, drawn
from tasks.paths.path import Extracted, GroundedQuestion
from tasks.paths.path_graph import open_path_graph
from tasks.programs.written_program import Conversation
from tasks.progress import Report
from tasks.questions.formats import read_benchmark
from tasks.questions.question import BenchmarkQuestion
from tasks.questions.splits import sample, sample_apart, split
from tasks.text.question import analyse
from warehouse.disk_errors import warned_of_refusals
from warehouse.editions import Edition
from warehouse.home import Home
from warehouse.live import record

NO_PATHS = "without paths"
QUESTIONS_A_REPORT = 64  # of progress


@dataclass(frozen=True, eq=False)
class _Outcomes:
    """The outcomes of every arm, the first of which uses no paths.

    `right` is bool (questions, arms), `edges` the number of edges shown (questions, arms), and
    `contexts` the questions' vectors (questions, d).
    """

    right: np.ndarray
    contexts: np.ndarray
    edges: np.ndarray


def study_arms(arguments: argparse.Namespace, home: Home, report: Report) -> dict[str, Any]:
    """Measure the arms on questions with choices; return a table, and record its figures.

    The bandit and the best fixed arm are learned from the training part of the questions, or from
    a seeded half if there is none; the training questions are sampled apart from those that a
    policy has learned from. Raises UsageError if too few questions have choices.
    """
    edition, settings = edition_of(home, None), settings_of(home)
    if arguments.model:
        settings = with_model(settings, arguments.model)
    benchmark = read_benchmark(arguments.questions, arguments.format)
    with_choices = [q for q in benchmark.questions if q.choices and q.answers]
    training, test = split(type(benchmark)(benchmark.name, with_choices, halves=True))
    training, test = sample_apart(training, arguments.training), sample(test, arguments.limit)
    if not (training and test):
        raise UsageError(
            f"{arguments.questions} has too few questions with choices to compare arms by."
        )
    began = time.perf_counter()
    with edition.pinned() as pinned:
        reader, ask = reader_of_paths(home, pinned, settings, arguments.graph)
        with ask as answers:
            learned_from = outcomes_of(reader, answers, training, partial(report, "training"))
            measured = outcomes_of(reader, answers, test, partial(report, "arms"))
    rows = _rows(reader.arms, learned_from, measured, test)
    name = f"{benchmark.name} by {arguments.graph}"
    with warned_of_refusals(home.path, "the figures were not recorded.", terminal.say):
        record(home.live, *_evaluations(name, reader_name(settings), rows, edition.id))
    return {
        "dataset": name,
        "reader": reader_name(settings),
        "trained_on": len(training),
        "chance": round(float(np.mean([1 / len(q.choices) for q in test])), 4),
        "rows": rows,
        "seconds": round(time.perf_counter() - began, 1),
    }


@dataclass(frozen=True, eq=False)
class _Prompt:
    """A question with the paths that an arm retrieved and their wording, empty without an arm."""

    question: BenchmarkQuestion
    grounded: GroundedQuestion
    arm: str | None
    extracted: Extracted
    text: str


class _Asking:
    """Lets a reader answer several questions at once; as a context manager, closes the model."""

    def __init__(self, home: Home, settings: Settings, reader: PathReader, encode: Encode) -> None:
        self._home, self._settings, self._reader, self._encode = home, settings, reader, encode
        self._model: BlockingClient | None = None

    def __enter__(self) -> "_Asking":
        if self._settings.engine.engine != "rules":
            self._home.ledger.required = False
            client = open_client(self._home, self._settings.engine, "study-arms")
            self._model = BlockingClient(client).__enter__()
        return self

    def __exit__(self, *_: object) -> None:
        if self._model is not None:
            self._model.__exit__(None, None, None)
            self._home.ledger.seal()

    def __call__(self, prompts: Sequence[_Prompt]) -> list[str]:
        """Return the choice for each prompt."""
        if self._model is None:
            return [self._likeliest(prompt) for prompt in prompts]
        with ThreadPoolExecutor(self._settings.engine.model.concurrency) as pool:
            return list(pool.map(self._asked, prompts))

    def _likeliest(self, prompt: _Prompt) -> str:
        choices = prompt.question.choices
        chances = self._reader.chances(prompt.arm, prompt.grounded, choices, prompt.extracted)
        return choices[int(chances.argmax())]

    def _asked(self, prompt: _Prompt) -> str:
        assert self._model is not None
        return phrased_answer(
            Conversation(self._model),
            analyse(prompt.question.question),
            prompt.question.choices,
            [prompt.text] if prompt.text else [],
            self._encode,
            against_prior=True,
        )


def reader_of_paths(
    home: Home, edition: Edition, settings: Settings, graph: str
) -> tuple[PathReader, _Asking]:
    """Return the reader of a graph's paths, and what asks its questions."""
    encode = Resources(home, edition, settings, AskOptions("paths", graph), {}).encode
    reader = PathReader(open_path_graph(home, edition, graph), encode)
    return reader, _Asking(home, settings, reader, encode)


def outcomes_of(
    reader: PathReader,
    answers: _Asking,
    questions: Sequence[BenchmarkQuestion],
    report: Callable[[int, int], None],
) -> _Outcomes:
    """Let every arm answer every question and return the outcomes."""
    right, lengths, contexts = [], [], []
    for start in range(0, len(questions), QUESTIONS_A_REPORT):
        some = questions[start : start + QUESTIONS_A_REPORT]
        grounded = reader.paths.grounder.ground(
            [q.question for q in some], [q.choices for q in some]
        )
        contexts += [question.context for question in grounded]
        nothing = Extracted((), np.zeros((0, 3), np.int32))
        prompts = [[_Prompt(q, g, None, nothing, "")] for q, g in zip(some, grounded, strict=True)]
        shown = [[0] for _ in some]
        by_strategy: dict[str, list[Extracted]] = {}
        for arm in reader.arms:
            strategy = arm.partition("+")[0]
            if strategy not in by_strategy:
                by_strategy[strategy] = reader.extract(arm, grounded)
            for n, extracted in enumerate(by_strategy[strategy]):
                phrased = reader.phrase(arm, extracted)
                prompts[n].append(_Prompt(some[n], grounded[n], arm, extracted, phrased.text))
                shown[n].append(phrased.edges)
        given = answers([prompt for row in prompts for prompt in row])
        columns = np.array(given, object).reshape(len(some), -1)
        right.append([[a in q.answers for a in row] for q, row in zip(some, columns, strict=True)])
        lengths.append(np.array(shown))
        report(min(start + QUESTIONS_A_REPORT, len(questions)), len(questions))
    return _Outcomes(np.concatenate(right), np.stack(contexts), np.concatenate(lengths))


def _rows(
    arms: Sequence[str],
    training: _Outcomes,
    test: _Outcomes,
    questions: Sequence[BenchmarkQuestion],
) -> list[dict[str, Any]]:
    """Return each arm's share of right answers, and its gain over the reader without paths."""
    by_arm = test.right[:, 1:]
    best = int(training.right[:, 1:].mean(0).argmax())
    chosen = _by_bandit(training, test)
    columns = {
        NO_PATHS: test.right[:, 0],
        **{arm: by_arm[:, place] for place, arm in enumerate(arms)},
        f"best fixed ({arms[best]})": by_arm[:, best],
        "bandit": by_arm[np.arange(len(by_arm)), chosen],
        "random arm": by_arm.mean(1),
        "oracle": by_arm.any(1),
    }
    clusters = [question.split_key or question.id for question in questions]
    rows = []
    for name, right in columns.items():
        gains = right.astype(float) - test.right[:, 0]
        scores = [
            {"accuracy": float(r), "gain": float(g)} for r, g in zip(right, gains, strict=True)
        ]
        rows.append({"row": name, "items": len(questions), **summarise(scores, clusters)})
    for place, row in enumerate(rows[1 : 1 + len(arms)], 1):
        row["edges"] = round(float(test.edges[:, place].mean()), 1)
    return rows


def _by_bandit(training: _Outcomes, test: _Outcomes) -> np.ndarray:
    """Return the arm that a bandit trained on the training questions takes for each test question.

    For each training question it learns only the outcome of the arm that it chose.
    """
    encoding = ContextEncoding.fit("study", training.contexts)
    contexts, others = (
        encoding.contexts([AskedQuestion("", vector) for vector in outcomes.contexts])
        for outcomes in (training, test)
    )
    arms, random = training.right.shape[1] - 1, np.random.default_rng(0)
    bandit = LinUCB(arms, encoding.dimensions, SAMPLING)
    for context, right in zip(contexts, training.right[:, 1:], strict=True):
        arm = drawn(bandit.chances(context), random)
        bandit.update(arm, context, float(right[arm]))
    return np.array([int(bandit.means(context).argmax()) for context in others])


def _evaluations(
    name: str, reader: str, rows: Iterable[dict[str, Any]], edition: str
) -> list[Evaluation]:
    now = datetime.now(UTC)
    return [
        Evaluation(
            dataset=name,
            system=f"paths, {reader}: {row['row']}",
            metric=metric,
            value=value,
            items=row["items"],
            edition=edition,
            measured_at=now,
        )
        for row in rows
        for metric, value in row.items()
        if metric not in ("row", "items")
    ]


def show(result: dict[str, Any]) -> None:
    """Print all arms beside the best, the bandit and the oracle, with intervals in brackets."""
    rows = [
        [
            row["row"],
            f"{row['accuracy']:.3f} [{row['accuracy_low']:.3f}, {row['accuracy_high']:.3f}]",
            f"{row['gain']:+.3f} [{row['gain_low']:+.3f}, {row['gain_high']:+.3f}]",
            row.get("edges", ""),
        ]
        for row in result["rows"]
    ]
    terminal.table(["arm", "accuracy", "gain", "edges"], rows)
    terminal.show(
        f"{result['rows'][0]['items']} questions of {result['dataset']}, read by "
        f"{result['reader']}; chance {result['chance']:.3f}; best arm and bandit are from "
        f"{result['trained_on']} other questions."
    )


def main(argv: Sequence[str] | None = None) -> int:
    """Measure all arms and show them; return the exit code."""
    parser = study_parser(__doc__)
    parser.add_argument("--graph", required=True, metavar="NAME", help="whose paths are read")
    parser.add_argument(
        "--training", type=int, default=500, metavar="N", help="questions a bandit learns from"
    )
    parser.add_argument(
        "--model", metavar="NAME", help="embedded, endpoint:NAME or a local one (the settings')"
    )
    arguments = parser.parse_args(argv)
    return run_as_command(arguments, partial(study_arms, arguments), show)


if __name__ == "__main__":
    sys.exit(main())
