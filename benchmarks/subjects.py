"""The subjects of questions, found by graphs that know some of them, and what a gate gains by it.

    python -m benchmarks.subjects [--only SET ...]

PopQA over fb15k237, which knows a sixth of its subjects; MetaQA (1 hop) and NLPCC over their own
graphs; beside the rule of `tasks.gates.subject_popularity` the longest and the least known name.
A question is right if its gold subject is found, wrong if it is about somebody unknown and yet a
name counts as its subject. MIRAGE over medkg: the gate's area over the random line, by model, and
the time.
"""

import gzip
import re
import time
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial
from itertools import islice
from typing import Any

import numpy as np
from scipy.stats import spearmanr

from benchmarks.command import DATA, parser_of, report, run_command
from recipes.linking_worlds import World, chinese, freebase, medical
from tasks.evaluate.gates.candidates import CandidateGate
from tasks.evaluate.gates.evaluate import GateMeasurement, compare_gates
from tasks.evaluate.gates.outcomes import outcomes_of
from tasks.gates.gate import Gate, make_gate
from tasks.gates.subject_popularity import triples_of
from tasks.graphs.graph import Graph
from tasks.graphs.name_keys import by_key, name_keys
from tasks.graphs.question_names import NamedSpan, QuestionNames, names_in
from tasks.questions.formats import read_benchmark
from tasks.text.question import analyse

Asked = list[tuple[str, str]]  # a question and its subject
Rule = Callable[[QuestionNames, list[tuple[NamedSpan, float]]], NamedSpan | None]
SUBJECTS = re.compile(
    r"(?:Wh(?:o|at) (?:is|was) the \w+ (?:of|for)|What is|In what (?:city|country) (?:was|is)|"
    r"What genre is|What color is|What sport does) (.+?)"
    r"(?:'s occupation| born| the capital of| play)?\?"
)


def _longest(_: QuestionNames, names: list[tuple[NamedSpan, float]]) -> NamedSpan | None:
    return max((name for name, _ in names), key=lambda n: n.end - n.start, default=None)


def _least(_: QuestionNames, names: list[tuple[NamedSpan, float]]) -> NamedSpan | None:
    return min(names, key=lambda known: known[1], default=(None, 0.0))[0]


def _ours(question: QuestionNames, names: list[tuple[NamedSpan, float]]) -> NamedSpan | None:
    return question.subject([name for name, _ in names])


RULES: dict[str, Rule] = {"subject": _ours, "longest": _longest, "least known": _least}


def named_graph(world: World) -> Graph:
    """Return a world's graph with its names."""
    graph = world.graph()
    spelled = [(name, node) for node, names in enumerate(world.names) for name in names]
    keys = name_keys(name for name, _ in spelled)
    nodes = np.array([node for _, node in spelled], np.int32)
    hashes, bearers = by_key(keys, nodes, np.ones(len(nodes), np.float32))
    return replace(graph, key_hashes=hashes, key_nodes=bearers)


def popqa() -> tuple[Asked, np.ndarray]:
    """Return PopQA's questions with their subjects, taken from its patterns, and page views."""
    questions = read_benchmark(DATA / "gate/popqa.json.gz", "popqa").questions
    named, views = [], []
    for one in questions:
        match = SUBJECTS.fullmatch(one.question)
        if match and one.popularity is not None:
            named.append((one.question, match.group(1)))
            views.append(one.popularity)
    return named, np.array(views)


def metaqa() -> tuple[Graph, Asked]:
    """Return MetaQA's graph and its marked questions of one hop, without the marks."""
    with gzip.open(DATA / "metaqa/kb.txt.gz", "rt", encoding="utf-8") as lines:
        rows = [tuple(line.rstrip("\n").split("|")) for line in lines]
    graph = Graph.of("metaqa", [(row[0], row[1], row[2]) for row in rows if len(row) == 3])
    questions = read_benchmark(DATA / "metaqa", "metaqa").questions
    pairs = [
        (re.sub(r"[\[\]]", "", one.question), one.topic)
        for one in questions
        if one.hops == 1 and one.topic
    ]
    return graph, pairs[:3000]


def nlpcc() -> Asked:
    """Return NLPCC's questions with the head of their gold triple."""
    return list(islice(_nlpcc_rows(), 3000))


def _nlpcc_rows() -> Iterator[tuple[str, str]]:
    question = ""
    path = DATA / "nlpcc/nlpcc-iccpol-2016.kbqa.training-data.gz"
    with gzip.open(path, "rt", encoding="utf-8") as lines:
        for line in lines:
            if line.startswith("<question"):
                question = line.partition("\t")[2].strip()
            elif line.startswith("<triple"):
                yield question, line.partition("\t")[2].split("|||")[0].strip()


def figures_of(graph: Graph, asked: Asked, views: np.ndarray | None = None) -> dict[str, Any]:
    """Return what each rule finds of the subjects."""
    known = triples_of(graph)
    questions = [question for question, _ in asked]
    began = time.perf_counter()
    found = [names_in(analyse(question), graph) for question in questions]
    micros = (time.perf_counter() - began) / len(questions) * 1e6
    gold = [set(graph.named(subject).tolist()) for _, subject in asked]
    figures: dict[str, Any] = {
        "questions": len(asked),
        "subject is known": sum(map(bool, gold)),
        "microseconds a question": round(micros),
    }
    for rule, pick in RULES.items():
        counts: Counter[str] = Counter()
        values = np.zeros(len(asked))
        for place, names in enumerate(found):
            bearers = {name: names.bearers(name) for name in names.apart}
            counted = [(name, float(np.nanmax(known[nodes]))) for name, nodes in bearers.items()]
            subject = pick(names, counted)
            if subject is None:
                continue
            values[place] = dict(counted)[subject]
            if gold[place]:
                counts["right"] += bool(gold[place] & set(bearers[subject].tolist()))
            else:
                counts["wrong, for it is unknown"] += 1
        figures[rule] = dict(counts)
        if views is not None:
            figures[rule]["rank correlation with page views"] = round(
                float(spearmanr(values, views).statistic), 3
            )
    return figures


def mirage() -> dict[str, Any]:
    """Return the popularity gate's figures on MIRAGE by each rule, and the time."""
    graph = named_graph(medical())
    known = triples_of(graph)
    outcomes = outcomes_of(read_benchmark(DATA / "gate/mirage.jsonl.gz", "mirage").questions)
    texts = outcomes.questions.texts
    began = time.perf_counter()
    found = [names_in(analyse(text), graph) for text in texts]
    figures: dict[str, Any] = {
        "questions": len(texts),
        "microseconds a question": round((time.perf_counter() - began) / len(texts) * 1e6),
    }
    candidates = []
    for rule, pick in RULES.items():
        values = np.full(len(texts), np.nan)
        for place, names in enumerate(found):
            counted = [(n, float(np.nanmax(known[names.bearers(n)]))) for n in names.apart]
            subject = pick(names, counted)
            if subject is not None:
                values[place] = dict(counted)[subject]
        questions = replace(outcomes.questions, popularity=values)
        figures[rule] = {"subject is known": round(float(np.mean(~np.isnan(values))), 3)}
        make = partial(_gate, "popularity")
        candidates.append(CandidateGate(rule, make, replace(outcomes, questions=questions)))
    candidates.append(CandidateGate("random", partial(_gate, "random"), outcomes))
    report = compare_gates("mirage", candidates, GateMeasurement()).report
    for gate in [report, *report["baselines"]]:
        areas = {k: round(v, 4) for k, v in gate["metrics"].items() if k.startswith("area_over_r")}
        figures.setdefault(gate["system"], {}).update(areas)
    return figures


def _gate(name: str, draw: int) -> Gate:
    return make_gate(name, **({"seed": draw} if name == "random" else {}))


SETS: dict[str, Callable[[], dict[str, Any]]] = {
    "popqa over fb15k237": lambda: figures_of(named_graph(freebase()), *popqa()),
    "metaqa, 1 hop": lambda: figures_of(*metaqa()),
    "nlpcc": lambda: figures_of(named_graph(chinese()), nlpcc()),
    "mirage over medkg": mirage,
}


def main() -> None:
    """Measure and write the results."""
    parser = parser_of(__doc__)
    parser.add_argument("--only", nargs="+", choices=SETS, default=SETS, metavar="SET")
    report("subjects", {name: SETS[name]() for name in parser.parse_args().only})


if __name__ == "__main__":
    run_command(main)
