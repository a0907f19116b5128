"""Facts of a strict ontology, in Text2KGBench's form: python -m benchmarks.ontology SET.

The folder `text2kgbench` of the data holds a folder with ontologies/ and ground_truth/ for each set
of Text2KGBench (Mihindukulasooriya et al. 2023), such as wikidata_tekgen. Each ontology is written
as `ontology.yaml` with its concepts, relations, domains and ranges, in mode `strict`, and nothing
else: no wordings. Its test sentences are refreshed as one document each, and the published triples
are compared with the gold ones as there: in lower case and without white space; a year equals its
first of January, as gold writes years. Precision, recall and F1 are means over the sentences of an
ontology, then over ontologies; a sentence without right triples has 0. `--part train` and `--part
validation`, whose gold has fewer triples of a sentence, are there to develop on.
Writes benchmarks/results/ontology-SET.json.
"""

import json
import random
import re
import sys
import tempfile
from pathlib import Path
from statistics import mean
from typing import Any

import yaml

import schemas
from benchmarks.command import data, parser_of, report, run_command
from schemas.ontology import KINDS, ONTOLOGY_FILE
from schemas.settings import PublishSettings, Settings
from tasks.ontology.read import with_ontology
from tasks.refresh import refresh
from warehouse.home import Home

# Concepts below Almanac's own kinds, by how their names end, as who writes an ontology says.
PARENTS = {
    "person": (
        "human", "person", "writer", "author", "composer", "producer", "athlete", "engineer",
        "personnel", "astronaut", "president", "head of state", "head of government",
    ),
    "place": (
        "city", "country", "continent", "location", "space station", "territory", "state", "region",
        "feature", "watercourse", "body of water", "river", "reservoir", "mountain", "range",
        "basin", "dam", "observatory", "venue", "museum", "place", "habitat", "campus",
    ),
    "organisation": (
        "organization", "organisation", "company", "party", "team", "band", "business", "agency",
        "club", "league", "body", "publisher", "government", "unit", "university",
    ),
    "work": (
        "film", "book", "album", "song", "work", "software", "application", "article",
        "publication", "magazine", "journal", "operating system", "language",
    ),
    "event": ("competition", "race", "festival", "election", "mission", "spaceflight", "event"),
}  # fmt: skip
OWN = {"human": "person", "organization": "organisation"}
VALUES = {"date": "date", "year": "date", "number": "number", "string": "text"}
SEED = 20261123


def ontology_of(described: dict[str, Any]) -> dict[str, Any]:
    """Return an ontology of Text2KGBench as `ontology.yaml` has it."""
    labels = {concept["qid"]: concept["label"] for concept in described["concepts"]}
    kinds: dict[str, Any] = {}
    names = {}
    for concept, label in labels.items():
        noun = label.lower().strip()
        parent = next((kind for kind, ends in PARENTS.items() if noun.endswith(ends)), None)
        names[concept] = OWN.get(noun, noun if noun in KINDS else label)
        if names[concept] not in KINDS:
            kinds[label] = {"parent": parent} if parent else {}
    relations = {}
    for relation in described["relations"]:
        ends = {"domain": relation["domain"], "range": relation["range"]}
        relations[relation["label"]] = {
            end: [VALUES.get(concept.lower()) or names[concept]]
            for end, concept in ends.items()
            if concept in names or concept.lower() in VALUES
        }
    return {"mode": "strict", "kinds": kinds, "relations": relations}


def normalised(*parts: str) -> str:
    """Return a triple as it is compared."""
    parts = tuple(re.sub(r"^01 January (?=\d{4}$)", "", part.strip('"')) for part in parts)
    return "|".join(re.sub(r"[_\s]+", "", part).lower() for part in parts)


def scores(gold: set[str], stated: set[str]) -> tuple[float, float, float]:
    """Return precision, recall and F1 of one sentence."""
    right = len(gold & stated)
    if not right:
        return 0.0, 0.0, 0.0
    precision, recall = right / len(stated), right / len(gold)
    return precision, recall, 2 * precision * recall / (precision + recall)


def measure(
    described: dict[str, Any], gold: list[dict[str, Any]], settings: Settings
) -> dict[str, Any]:
    """Refresh the sentences of one ontology, and compare what is published."""
    with tempfile.TemporaryDirectory() as folder:
        home = Home(Path(folder) / "home")
        home.path.mkdir()
        ontology = yaml.safe_dump(ontology_of(described), sort_keys=False)
        (home.path / ONTOLOGY_FILE).write_text(ontology, encoding="utf-8")
        source = Path(folder) / "sentences.jsonl"
        lines = [json.dumps({"id": row["id"], "title": "", "text": row["sent"]}) for row in gold]
        source.write_text("\n".join(lines) + "\n", encoding="utf-8")
        refresh(home, [str(source)], with_ontology(settings, home.path))
        edition = home.editions.current()
        assert edition is not None
        documents = edition.table(schemas.Document).to_pylist()
        triples = {row["triple_id"]: row for row in edition.table(schemas.Triple).to_pylist()}
        texts = {row["document_id"]: " ".join(row["text"].split()) for row in documents}
        stated: dict[str, set[str]] = {}
        for mention in edition.table(schemas.Mention).to_pylist():
            triple = triples.get(mention["fact_id"])
            if triple:
                names = (triple["head"], triple["relation"], triple["tail"])
                stated.setdefault(texts[mention["document_id"]], set()).add(normalised(*names))
    by_sentence = [
        scores(
            {normalised(t["sub"], t["rel"], t["obj"]) for t in row["triples"]},
            stated.get(" ".join(row["sent"].split()), set()),
        )
        for row in gold
    ]
    precision, recall, f1 = map(mean, zip(*by_sentence, strict=True))
    return {
        "sentences": len(gold),
        "triples": sum(map(len, stated.values())),
        "precision": round(precision, 3),
        "recall": round(recall, 3),
        "f1": round(f1, 3),
    }


def gold_of(folder: Path, name: str, part: str) -> list[dict[str, Any]]:
    """Return the sentences of a part of an ontology with their gold triples, each sentence once."""
    if part == "test":
        return _lines(folder / "ground_truth" / f"ont_{name}_ground_truth.jsonl")
    rows: dict[str, dict[str, Any]] = {}
    for line in _lines(folder / part / f"ont_{name}_{part}.jsonl"):
        row = rows.setdefault(line["sent"], {"id": line["id"], "sent": line["sent"], "triples": []})
        if "triples" in line:  # as dbpedia_webnlg has them
            row["triples"] = line["triples"]
            continue
        ends = {"sub": line["sub_label"], "rel": line["rel_label"], "obj": line["obj_label"]}
        row["triples"].append(ends)
    return list(rows.values())


def _lines(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def main() -> None:
    """Measure each ontology, and write the means."""
    parser = parser_of(__doc__)
    parser.add_argument("set", help="wikidata_tekgen or dbpedia_webnlg, in text2kgbench")
    parser.add_argument("--sentences", type=int, default=10**9, help="Of each ontology.")
    parser.add_argument("--part", choices=("test", "train", "validation"), default="test")
    parser.add_argument("--only", nargs="+", metavar="NAME", help="Ontologies, such as 7_space.")
    least = PublishSettings().min_confidence
    parser.add_argument("--min-confidence", type=float, default=least, help="Of published facts.")
    chosen = parser.parse_args()
    folder = data("text2kgbench", chosen.set)
    settings = Settings(publish=PublishSettings(min_confidence=chosen.min_confidence))
    figures: dict[str, Any] = {}
    for path in sorted(folder.glob("ontologies/*_ontology.json")):
        name = path.stem.removesuffix("_ontology")
        if chosen.only and name not in chosen.only:
            continue
        described = json.loads(path.read_text(encoding="utf-8"))
        gold = gold_of(folder, name, chosen.part)
        drawn = random.Random(SEED).sample(gold, min(len(gold), chosen.sentences))
        figures[name] = measure(described, drawn, settings)
        print(name, figures[name], file=sys.stderr, flush=True)
    for figure in ("precision", "recall", "f1"):
        rows = [row for row in figures.values() if isinstance(row, dict)]
        figures[figure] = round(mean(row[figure] for row in rows), 3)
    part = "" if chosen.part == "test" else f"-{chosen.part}"
    report(f"ontology-{chosen.set}{part}", figures)


if __name__ == "__main__":
    run_command(main)
