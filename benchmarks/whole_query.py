"""The whole query beside each route alone and without each part, on eight sets of questions.

    python -m benchmarks.whole_query --homes FOLDER [--only SET ...] [--limit 100]
    python -m benchmarks.whole_query --homes FOLDER --model smollm2 --limit 50

Homes are made the first time, as a user would make them (`benchmarks/whole_homes.py`), and kept in
FOLDER. Questions name no graph, as those of somebody who just asks. `mixture` is one home with
texts, two graphs, a policy, a bandit, and an expert on what nothing else there knows. For each set:
the share of right answers, the gain of the whole query over each route alone and over the query
without each part (paired, 95 % bootstrap intervals), and how far each route can be believed.
`learned` is what `almanac learn` makes of the mixture, on questions kept apart. A route is asked a
question once, and what it said counts wherever the same route is asked the same again; so seconds
are those of routes. With `--only`, the figures of the other sets stay as they were. `--rows` keeps
what every route said to every question.
"""

import argparse
import json
import shutil
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, replace
from functools import partial
from hashlib import blake2b
from pathlib import Path
from typing import Any
from unittest.mock import patch

import numpy as np

from benchmarks.command import commit, data, parser_of, report, results_folder, run_command
from benchmarks.experts_study.measure import with_model
from benchmarks.islands import Archipelago
from benchmarks.whole_homes import (
    EXAMPLES,
    SETTINGS,
    made_once,
    questions_file,
    take_congress,
    take_corpus,
    take_expert,
    take_islands,
    take_texts,
    teach,
    walk,
)
from schemas.answers import Answer, RouteAnswer
from schemas.settings import Settings
from tasks.ask import asker
from tasks.ask.choice import UNSAID
from tasks.ask.parts import LearnedQuery, load_learned_query, reader_name
from tasks.ask.route import AnswerRoute, AskOptions, QuestionState, Resources, RouteResult
from tasks.evaluate.answerer import Prediction, without_gold
from tasks.evaluate.evaluate import ask_system
from tasks.evaluate.metrics import rightness, summarise
from tasks.evaluate.report import Measured, gain_over
from tasks.evaluate.systems import AskAnswerer
from tasks.import_graph import import_graph
from tasks.learn import learn
from tasks.progress import silent
from tasks.questions.formats import read_benchmark
from tasks.questions.question import BenchmarkQuestion
from tasks.questions.splits import sample, split
from tasks.text.question import Question
from warehouse.home import Home

WHOLE = "the whole query"
ELECTIONS_MINUTES, ISLANDS_MINUTES = 9.0, 2.0  # of training experts
TAUGHT = 1000  # questions of MetaQA that a planner learns from
Questions = list[BenchmarkQuestion]
Place = tuple[Callable[[], Home], Questions]  # what gives a home, and what that is asked
Figures = dict[str, Any]


# -- the sets -------------------------------------------------------------------------------------


def thirds(questions: Sequence[BenchmarkQuestion]) -> tuple[Questions, Questions, Questions]:
    """Return questions to teach with, to measure parts with, and to ask; no key is in two."""
    parts: tuple[Questions, Questions, Questions] = ([], [], [])
    for question in questions:
        key = (question.split_key or question.id).encode()
        parts[blake2b(key, digest_size=4).digest()[0] % 3].append(question)
    return parts


def moons() -> Questions:
    """Return the questions about the sample graph."""
    return read_benchmark(EXAMPLES / "graphs" / "moons-questions.jsonl", "jsonl").questions


def in_home(homes: Path, name: str, make: Callable[[Home], None], asked: Questions) -> list[Place]:
    """Return what gives the home of that name, made when it is first asked."""
    return [(partial(made_once, homes / name, make), [replace(one, graph="") for one in asked])]


def sample_corpus(homes: Path) -> list[Place]:
    """Return the sample corpus beside the sample graph, with questions about both."""
    taught, _, asked = thirds(moons())

    def make(home: Home) -> None:
        take_corpus(home)
        teach(home, taught, "moons")

    texts = read_benchmark(EXAMPLES / "questions.jsonl", "jsonl").questions
    return in_home(homes, "sample", make, [*texts, *asked])


def metaqa(homes: Path) -> list[Place]:
    """Return the graph of MetaQA and questions of two hops about other topics than are taught."""
    benchmark = read_benchmark(data("metaqa", "2-hop"), "metaqa")
    taught, asked = split(benchmark)

    def make(home: Home) -> None:
        [graph] = benchmark.graphs
        import_graph(home, graph.source, SETTINGS, name=graph.name, format=graph.format)
        teach(home, sample(taught, TAUGHT), graph.name)

    return in_home(homes, "metaqa", make, asked)


def midtermqa(homes: Path, form: str) -> list[Place]:
    """Return a Congress with an expert, and questions of one form."""
    taught, asked = split(read_benchmark(data("midtermqa"), "midtermqa"))
    make = partial(take_congress, demonstrations=taught, minutes=ELECTIONS_MINUTES)
    return in_home(homes, "midtermqa", make, [q for q in asked if q.dataset.endswith(form)])


def commonsenseqa(homes: Path) -> list[Place]:
    """Return ConceptNet with a policy and a bandit, and the development questions."""
    taught, asked = split(read_benchmark(data("commonsenseqa"), "commonsenseqa"))

    def make(home: Home) -> None:
        mapping = Path(__file__).with_name("conceptnet.yaml")
        import_graph(
            home, data("conceptnet", "CN-100K"), SETTINGS, name="conceptnet", mapping=mapping
        )
        walk(home, taught, "conceptnet")

    return in_home(homes, "commonsenseqa", make, asked)


def private_choices(homes: Path) -> list[Place]:
    """Return an invented graph, and questions with choices about it."""
    taught, _, asked = thirds(Archipelago(0).questions(with_choices=True))
    return in_home(homes, "islands", partial(take_islands, questions=taught), asked)


def hotpotqa(homes: Path) -> list[Place]:
    """Return questions, each with a home of its own texts."""
    questions = read_benchmark(data("multihop", "hotpotqa.json.gz"), "hotpotqa").questions
    return [
        place
        for question in questions
        for place in in_home(
            homes / "hotpotqa",
            question.id.replace("/", "-"),
            partial(take_texts, texts=question.context),
            [replace(question, context=())],
        )
    ]


def mixture(homes: Path) -> list[Place]:
    """Return one home with all kinds of knowledge, and questions about each."""
    return in_home(homes, "mixture", make_mixture, asked_of_mixture(2))


def make_mixture(home: Home) -> None:
    """Take texts, two graphs, and an expert on islands that are in no graph."""
    take_corpus(home)
    teach(home, thirds(moons())[0], "moons")
    take_islands(home, thirds(Archipelago(0).questions(with_choices=True))[0])
    lines, about = Archipelago(1).lines, "Ships, ports and islands of the southern sea"
    take_expert(home, lines, "southern", about, ISLANDS_MINUTES)


def asked_of_mixture(part: int) -> Questions:
    """Return questions of the second or third part: texts, two graphs, the expert's field."""
    texts = read_benchmark(EXAMPLES / "questions.jsonl", "jsonl").questions
    north, south = Archipelago(0), Archipelago(1)
    few = 20 if part == 2 else 50
    return [
        question
        for kind, some in {
            "texts": sample(texts, None)[part % 2 :: 2],
            "moons": sample(thirds(moons())[part], few),
            "islands, choices": sample(thirds(north.questions(with_choices=True))[part], few),
            "islands, open": sample(thirds(north.questions(with_choices=False))[part], few // 2),
            "expert's islands, choices": sample(
                thirds(south.questions(with_choices=True))[part], few // 2
            ),
            "expert's islands, open": sample(
                thirds(south.questions(with_choices=False))[part], few // 2
            ),
        }.items()
        for question in (replace(one, dataset=kind) for one in some)
    ]


SETS: dict[str, Callable[[Path], list[Place]]] = {
    "sample corpus": sample_corpus,
    "MetaQA, 2 hops": metaqa,
    "MidtermQA, open": partial(midtermqa, form="openbook"),
    "MidtermQA, four choices": partial(midtermqa, form="fourchoice"),
    "CommonsenseQA": commonsenseqa,
    "private choices": private_choices,
    "HotpotQA, own texts": hotpotqa,
    "mixture": mixture,
}
LEARNED = "learned"


# -- asking ---------------------------------------------------------------------------------------

# The parts without which a route says something else; it is asked once for each combination.
CHANGED_BY = {
    "programs": {"planner"},
    "paths": {"planner", "bandit"},
    "experts": {"filters"},
}


class Remembered(AnswerRoute):
    """A route that is asked a question only once."""

    def __init__(self, route: AnswerRoute, known: dict[Any, RouteResult]) -> None:
        """Take the route, and the results that it or one like it has given."""
        self._route, self._known = route, known

    def prepare(self, questions: Sequence[Question]) -> None:
        """Prepare the questions that are not known."""
        texts = {text for text, _ in self._known}
        if new := [question for question in questions if question.text not in texts]:
            self._route.prepare(new)

    def answer(self, question: Question, state: QuestionState) -> RouteResult:
        """Return what is known, else the route's result."""
        key = (question.text, state.hints.choices)
        if key not in self._known:
            self._known[key] = self._route.answer(question, state)
        return self._known[key]


@contextmanager
def remembering() -> Iterator[None]:
    """Ask each route a question once while the body runs."""
    known: defaultdict[Any, dict[Any, RouteResult]] = defaultdict(dict)
    opened = asker._open_route

    def open_route(name: str, resources: Resources, *tools: Any) -> AnswerRoute:
        options = resources.options
        changes = options.without & CHANGED_BY.get(name, set())
        key = (resources.home.path, name, options.graph, options.route == name, changes)
        return Remembered(opened(name, resources, *tools), known[key])  # type: ignore[arg-type]

    with patch.object(asker, "_open_route", open_route):
        yield


@dataclass(frozen=True)
class Asked:
    """What the whole query and its variants answered, and what each route said on the way."""

    answers: list[Answer]
    whole: Measured
    variants: list[Measured]

    @property
    def said(self) -> Iterator[tuple[BenchmarkQuestion, RouteAnswer]]:
        """Yield every answer of a route, with its question."""
        for question, answer in zip(self.whole.questions, self.answers, strict=True):
            for one in answer.way.routes if answer.way else []:
                yield question, one


def ask(places: Sequence[Place], settings: Settings, learned: LearnedQuery | None = None) -> Asked:
    """Ask every place its questions, by the whole query and by all its variants."""
    answers: list[Answer] = []
    by_name: defaultdict[str, dict[str, Prediction]] = defaultdict(dict)
    for give_home, questions in places:
        home, visible = give_home(), list(map(without_gold, questions))
        with home.require_edition().pinned() as pinned, remembering():
            whole = AskAnswerer(
                pinned, settings, home, AskOptions(), WHOLE, learned=learned or LearnedQuery()
            )
            given = whole.answers(visible)
            answers += given
            for question, answer in zip(questions, given, strict=True):
                by_name[WHOLE][question.id] = Prediction(answer.answers)
            for variant in whole.variants(visible):
                predictions = variant.answer_all(visible)
                for question, prediction in zip(questions, predictions, strict=True):
                    by_name[variant.name][question.id] = prediction
    questions = [question for _, some in places for question in some]
    first, *others = (
        Measured(name, [q for q in questions if q.id in some], list(some.values()), 0.0)
        for name, some in by_name.items()
    )
    return Asked(answers, first, others)


# -- figures --------------------------------------------------------------------------------------


def figures_of(asked: Asked) -> Figures:
    """Return the whole query's figures beside those of each route alone and without each part."""
    alone, without = {}, {}
    for variant in asked.variants:
        gain = gain_over(variant, asked.whole)
        kept = {"right": share(variant)["right"], **{n: gain[n] for n in gain if n != "over"}}
        name, _, lacking = variant.system.partition(" without ")
        if lacking:
            without[lacking] = kept
        else:
            alone[name.removesuffix(" alone")] = kept
    best = max(alone, key=lambda name: alone[name]["right"])
    seconds = [one.seconds for _, one in asked.said]
    return {
        "questions": len(asked.answers),
        **share(asked.whole),
        "seconds": round(sum(seconds) / len(asked.answers), 3),
        "best alone": {"route": best, **alone[best]},
        "alone": alone,
        "without": without,
        "by": by_kind(asked),
        "said": said_by(asked),
    }


def share(measured: Measured) -> dict[str, float]:
    """Return the share of right answers with its interval."""
    clusters = [question.split_key or question.id for question in measured.questions]
    rights = map(rightness, measured.questions, measured.predictions)
    return summarise([{"right": right} for right in rights], clusters)


def by_kind(asked: Asked) -> dict[str, dict[str, float]]:
    """Return the share of right answers of each system on each kind of question."""
    found: dict[str, dict[str, float]] = {}
    for measured in (asked.whole, *asked.variants):
        if " without " in measured.system:
            continue
        rights: defaultdict[str, list[float]] = defaultdict(list)
        for question, prediction in zip(measured.questions, measured.predictions, strict=True):
            rights[question.dataset].append(rightness(question, prediction))
        for kind, values in rights.items():
            found.setdefault(kind, {})[measured.system] = round(float(np.mean(values)), 4)
    return found if len(found) > 1 else {}


def said_by(asked: Asked) -> dict[str, Figures]:
    """Return how often each route of the query answered, was right, and how sure it was."""
    rows: defaultdict[str, list[tuple[float, float]]] = defaultdict(list)
    for question, one in asked.said:
        if one.answer is not None:
            believed = UNSAID[one.route] if one.probability is None else one.probability
            rows[one.route].append((rightness(question, Prediction([one.answer])), believed))
    for question, answer in zip(asked.whole.questions, asked.answers, strict=True):
        if answer.answers and answer.probability is not None:
            right = rightness(question, Prediction(answer.answers))
            rows["given"].append((right, answer.probability))
    return {
        name: {
            "answers": len(some),
            "right": round(float(np.mean([right for right, _ in some])), 4),
            "believed": round(float(np.mean([believed for _, believed in some])), 4),
            "brier": round(float(np.mean([(r - b) ** 2 for r, b in some])), 4),
        }
        for name, some in rows.items()
    }


def measure_learning(homes: Path, settings: Settings, limit: int) -> Figures:
    """Return what `almanac learn` decides on the mixture, and what it changes elsewhere."""
    [(give_home, asked)] = mixture(homes)
    mixed, folder = give_home(), homes / "mixture-learned"
    shutil.rmtree(folder, ignore_errors=True)
    shutil.copytree(mixed.path, folder, symlinks=True)
    home = Home(folder)
    file = questions_file(home, asked_of_mixture(1))
    asked = sample(asked, limit)
    with home.require_edition().pinned() as pinned, remembering():
        *_, decided = learn(home, [file], "jsonl", settings, measured=True)
        learned = load_learned_query(home, reader_name(settings))
        before, after = (
            ask_system(
                AskAnswerer(pinned, settings, home, AskOptions(), WHOLE, learned=used),
                asked,
                silent,
            )
            for used in (LearnedQuery(), learned)
        )
    return {
        "decided": {n: value for n, value in decided.items() if not n.startswith("seconds")},
        "trusts": {route: asdict(trust) for route, trust in learned.trusts.items()},
        "before": share(before),
        "after": share(after),
        **gain_over(before, after),
    }


def keep_rows(file: Path, name: str, asked: Asked) -> None:
    """Append what every route said to every question, one JSON object per question."""
    with file.open("a", encoding="utf-8") as lines:
        for question, answer in zip(asked.whole.questions, asked.answers, strict=True):
            said = [one.model_dump() for one in answer.way.routes] if answer.way else []
            for one in said:
                one["right"] = rightness(
                    question, Prediction([one["answer"]] if one["answer"] else [])
                )
            row = {
                "set": name,
                "kind": question.dataset,
                "question": question.question,
                "gold": question.answers,
                "choices": question.choices,
                "answer": answer.answers[:3],
                "probability": answer.probability,
                "right": rightness(question, Prediction(answer.answers)),
                "said": said,
            }
            lines.write(json.dumps(row, ensure_ascii=False) + "\n")


def main() -> None:
    """Make the homes that are missing, ask the questions, and write the figures."""
    parser = parser_of(__doc__)
    parser.add_argument("--homes", type=Path, required=True, metavar="FOLDER")
    parser.add_argument("--only", nargs="+", choices=[*SETS, LEARNED], default=[*SETS, LEARNED])
    parser.add_argument("--limit", type=int, default=100, metavar="N", help="of each set (100)")
    parser.add_argument("--model", metavar="NAME", help="a local model, such as smollm2 (none)")
    parser.add_argument("--rows", type=Path, metavar="FILE", help="for what routes said")
    arguments = parser.parse_args()
    settings = with_model(SETTINGS, arguments.model) if arguments.model else SETTINGS
    name = f"whole-query-{arguments.model}" if arguments.model else "whole-query"
    for chosen in arguments.only:
        figures = {**kept(name), chosen: measured(chosen, settings, arguments)}
        report(name, figures)


def kept(name: str) -> Figures:
    """Return the figures of sets that were measured before; a set is measured alone, too."""
    file = results_folder() / f"{name}.json"
    known: Figures = json.loads(file.read_bytes()) if file.exists() else {}
    return {name: figures for name, figures in known.items() if name in (*SETS, LEARNED)}


def measured(name: str, settings: Settings, arguments: argparse.Namespace) -> Figures:
    """Return the figures of one set, with the commit that gave them."""
    if name == LEARNED:
        return {"commit": commit(), **measure_learning(arguments.homes, settings, arguments.limit)}
    asked = ask(limited(SETS[name](arguments.homes), arguments.limit), settings)
    if arguments.rows:
        keep_rows(arguments.rows, name, asked)
    return {"commit": commit(), **figures_of(asked)}


def limited(places: Sequence[Place], limit: int) -> list[Place]:
    """Return the places with a seeded sample of their questions, `limit` in all."""
    chosen = {q.id for q in sample([q for _, some in places for q in some], limit)}
    asked = [(place, [q for q in some if q.id in chosen]) for place, some in places]
    return [(place, some) for place, some in asked if some]


if __name__ == "__main__":
    run_command(main)
