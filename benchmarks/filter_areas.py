"""Each filter of the experts' texts by itself: the area under ROC of good texts against bad ones.

    python -m benchmarks.filter_areas [--verifier embedded|FOLDER] [--limit 100]

Factuality: a right answer against wrong ones, from the evidence that an edition finds, without the
agreement among samples. The graphs are one of invented towns, ships and songs, where wrong answers
are another value of the relation, a value of another relation, and the subject itself; and the
118th Congress, with the wrong choices of MidtermQA. `half stated` is the same with every second
fact taken out of the evidence. Relevance: answers of the expert in whose field the question is,
against those of two other experts, which repeat the question with values of their own fields.
Nothing is fitted to these sets, of which at most `--limit` questions are asked.
"""

import itertools
import random
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.metrics import roc_auc_score

from benchmarks.command import data, parser_of, report, run_command
from schemas.settings import EngineSettings, Settings
from tasks.experts.filters.evidence import EditionEvidence
from tasks.experts.filters.factuality import (
    EvidenceOf,
    open_verifier,
    score_factuality,
)
from tasks.experts.filters.selection import cosines, relevance
from tasks.experts.filters.verifier import Verifier
from tasks.experts.integrate.decisions import fields_of
from tasks.experts.integrate.writing import statement
from tasks.experts.knowledge import KnowledgeText
from tasks.import_graph import import_graph
from tasks.models.encoders.minilm import MiniLM
from tasks.programs.knowledge_bases.edition_graph import edition_graphs
from tasks.questions.formats import read_benchmark
from tests.path_measures import rounded
from warehouse.home import Home

MAPPING = Path(__file__).resolve().parents[1] / "examples" / "mappings" / "congress.yaml"
STARTS = "Ast Brom Cal Drev Esk Fen Gry Hul Ist Jor Kel Lum"
ENDS = "wick dorn mere ova ist en ulm ara eth ing"
SUBJECTS = 40  # of each invented field
FIELDS: dict[str, tuple[str, ...]] = {
    "towns": ("mayor", "market day", "weekly newspaper", "oldest bridge", "main harvest"),
    "ships": ("shipyard", "figurehead", "first captain", "winter harbour", "cargo"),
    "songs": ("lyricist", "first singer", "melody", "concert hall", "record company"),
}
ABOUT = {
    "towns": "towns, their mayors, bridges, newspapers and markets",
    "ships": "ships, their captains, shipyards, ports and cargoes",
    "songs": "songs, their singers, lyricists and melodies",
}
PUBLIC = {
    "films": "films, their directors, actors, genres and years",
    "congress": "members of the United States Congress and elections",
    "medicine": "diseases, symptoms, drugs and medical treatment",
}


@dataclass(frozen=True, slots=True)
class Asked:
    """A question with its right answers and wrong ones; `fact` is what the evidence may state."""

    question: str
    right: list[str]
    wrong: list[str]
    field: str
    fact: tuple[str, str, str] | None = None
    others: Sequence[str] = ()  # answers of other experts


def main() -> None:
    """Measure and write the results."""
    given = parser_of(__doc__, verifier="embedded", limit=100).parse_args()
    verifier, most = open_verifier(given.verifier), given.limit
    encoder = MiniLM()
    invented, public = invented_questions()[:most], public_questions(most)
    with tempfile.TemporaryDirectory() as folder:
        figures = {
            "verifier": verifier.id,
            "factuality": {
                "invented": _factuality(invented, verifier, _of_facts(Path(folder, "a"), invented)),
                "invented, half stated": _factuality(
                    invented, verifier, _of_facts(Path(folder, "b"), invented[::2])
                ),
                "midtermqa": _factuality(
                    midterm_questions()[:most], verifier, _of_congress(Path(folder, "c"))
                ),
            },
            "relevance": {
                "invented": _relevance(invented, encoder, ABOUT),
                "public": _relevance(public, encoder, PUBLIC),
            },
        }
    report("filter-areas", figures)


def invented_questions(seed: int = 5) -> list[Asked]:
    """Return questions about every relation of every invented subject, in random order."""
    chance = random.Random(seed)
    values = {
        (name, relation): [_name(chance) for _ in range(SUBJECTS)]
        for name, relations in FIELDS.items()
        for relation in relations
    }
    asked = []
    for name, relations in FIELDS.items():
        for number, subject in enumerate(_name(chance) for _ in range(SUBJECTS)):
            for relation in relations:
                right = values[name, relation][number]
                another = chance.choice([v for v in values[name, relation] if v != right])
                second = chance.choice([other for other in relations if other != relation])
                foreign = [
                    chance.choice(rows) for (place, _), rows in values.items() if place != name
                ]
                asked.append(
                    Asked(
                        f"What is the {relation} of {subject}?",
                        [right],
                        [another, values[name, second][number], subject],
                        name,
                        (subject, relation, right),
                        chance.sample(foreign, 2),
                    )
                )
    chance.shuffle(asked)
    return asked


def midterm_questions() -> list[Asked]:
    """Return MidtermQA's questions with four choices whose label is right."""
    questions = read_benchmark(data("midtermqa"), "midtermqa").questions
    return [
        Asked(
            question.question,
            [question.answers[0]],
            [c for c in question.choices if c not in ("N/A", question.answers[0])],
            "congress",
        )
        for question in questions
        if question.dataset.endswith("fourchoice") and question.exact and question.kind == "house"
    ]


def public_questions(most: int) -> list[Asked]:
    """Return questions of each of three public sets; other experts answer from their sets."""
    chance = random.Random(11)
    sets = {
        "films": read_benchmark(data("metaqa"), "metaqa").questions,
        "congress": read_benchmark(data("midtermqa"), "midtermqa").questions,
        "medicine": read_benchmark(data("medqa"), "medqa").questions,
    }
    drawn = {name: chance.sample(list(rows), most) for name, rows in sets.items()}
    asked = []
    for name, rows in drawn.items():
        for row in rows:
            others = [chance.choice(drawn[other]).answers[0] for other in drawn if other != name]
            wrong = chance.choice(rows).answers[0]
            asked.append(Asked(row.question, [row.answers[0], wrong], [], name, others=others))
    return asked


def _name(chance: random.Random) -> str:
    words = (
        chance.choice(STARTS.split()) + chance.choice("aeiou") + chance.choice(ENDS.split())
        for _ in range(2)
    )
    return " ".join(itertools.islice(words, chance.randint(1, 2)))


def _of_facts(folder: Path, asked: Sequence[Asked]) -> EvidenceOf:
    folder.mkdir()
    facts = folder / "facts.tsv"
    lines = ("\t".join(question.fact) + "\n" for question in asked if question.fact)
    facts.write_text("head\trelation\ttail\n" + "".join(lines), encoding="utf-8")
    return _evidence(folder / "home", facts, None)


def _of_congress(folder: Path) -> EvidenceOf:
    return _evidence(folder, data("congress"), MAPPING)


def _evidence(folder: Path, source: Path, mapping: Path | None) -> EvidenceOf:
    """Import a graph into an empty home, and return the search for evidence in its edition."""
    home = Home(folder)
    settings = Settings(engine=EngineSettings(encoder="none"))
    import_graph(home, source, settings, name="facts", mapping=mapping)
    edition = home.editions.current()
    assert edition is not None
    graphs = [graph.arrays for graph in edition_graphs(edition).values()]
    return EditionEvidence(edition.connect(), None, graphs).find


def _factuality(asked: Sequence[Asked], verifier: Verifier, evidence: EvidenceOf) -> dict[str, Any]:
    texts, good = [], []
    for question in asked:
        answers = [*question.right, *question.wrong]
        texts += [KnowledgeText(question.field, statement(question.question, a)) for a in answers]
        good += [answer in question.right for answer in answers]
    scored = score_factuality(texts, verifier, evidence)
    truth = np.array(good)
    parts = {
        "area": [text.score for text in scored],
        "of support": [text.support for text in scored],
        "of no refutation": [-(text.refute or 0.0) for text in scored],
    }
    return {
        "texts": len(texts),
        **{name: rounded(roc_auc_score(truth, values)) for name, values in parts.items()},
    }


def _relevance(asked: Sequence[Asked], encoder: MiniLM, about: dict[str, str]) -> dict[str, Any]:
    scores: dict[str, list[float]] = {"area": [], "of own words": [], "cosine of the text": []}
    good: list[bool] = []
    for question in asked:
        others = [name for name in about if name != question.field]
        texts = [
            *(
                KnowledgeText(question.field, statement(question.question, a))
                for a in question.right
            ),
            *(
                KnowledgeText(name, statement(question.question, answer))
                for name, answer in zip(others, question.others, strict=True)
            ),
        ]
        good += [text.expert == question.field for text in texts]
        vectors = encoder.encode([question.question, *(text.text for text in texts)])
        scores["area"] += relevance(
            question.question, texts, encoder.encode, fields_of(about)
        ).tolist()
        scores["of own words"] += relevance(question.question, texts, encoder.encode, {}).tolist()
        scores["cosine of the text"] += cosines(vectors[0], vectors[1:]).tolist()
    return {
        "texts": len(good),
        **{name: rounded(roc_auc_score(good, values)) for name, values in scores.items()},
    }


if __name__ == "__main__":
    run_command(main)
