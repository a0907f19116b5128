"""Fit the confidence of triples to judged facts: python -m benchmarks.judged_facts.

`benchmarks/judged/facts.jsonl` has triples of English and Chinese corpora with where they were read
and what a reader, who knew neither rules nor confidence, thought of them by docs/judging.md:
useful, useless or wrong. A row quotes the text around its fact, or names a `document`, which is a
file below `$ALMANAC_DATA/more` or a record of one (`rc/cmrc2018_dev_zh.jsonl.gz#ID`); `start` and
`end` count the characters of the quotation or of the document. A corpus whose name
begins with `zh_` is Chinese. Triples that today's rules do not state any more are left out. Per
language a ridge logistic regression learns which are useful; every figure is of corpora that the
weights have not seen. Writes the weights to tasks/extract/rules/confidence.json and
tasks/extract/rules/chinese/confidence.json, which stays as it is without judged Chinese facts, and
the figures to benchmarks/results.
"""

import gzip
import json
import os
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.calibrate import calibration_error, fit, matrix, predict
from benchmarks.results_file import write_results
from tasks.extract.english_pipeline.load import load_english
from tasks.extract.extracted import Mention
from tasks.extract.rules.chinese.confidence import WEIGHTS as CHINESE_WEIGHTS
from tasks.extract.rules.chinese.read import read_passage
from tasks.extract.rules.clauses import find_clauses
from tasks.extract.rules.confidence import WEIGHTS
from tasks.extract.rules.english import find_triples, understand
from tasks.extract.rules.layout import lay_out
from tasks.extract.rules.tree import Reduced, parse, tree_of
from tasks.extract.rules.triple import triple_features, triple_row
from tasks.ingest.formats.cleaning import clean
from tasks.ingest.formats.names import title_of_name, title_of_text
from tasks.ingest.split import split

DATA = Path(os.environ.get("ALMANAC_DATA", "../shared/data")) / "more"
JUDGED = Path(__file__).parent / "judged" / "facts.jsonl"
RIDGE = 20.0
RARE = 15
PASSAGE_TOKENS = 256

Stated = Iterable[tuple[Mention, dict[str, float]]]


@dataclass(frozen=True, slots=True)
class Sample:
    """A judged triple: its corpus, the first verdict on it, and its features today."""

    corpus: str
    verdict: str
    features: dict[str, float]


def judged_facts(language: str) -> list[dict[str, Any]]:
    """Return the judged facts of a language."""
    facts = map(json.loads, JUDGED.read_text(encoding="utf-8").splitlines())
    return [fact for fact in facts if _language(fact) == language]


def _language(fact: dict[str, Any]) -> str:
    return "zh" if fact["corpus"].startswith("zh_") else "en"


def judged_samples(facts: list[dict[str, Any]]) -> list[Sample]:
    """Return the judged triples, all of one language, that today's rules state."""
    language = _language(facts[0])
    rows = [passage_of(fact, language) for fact in facts]
    read = {"en": _read_english, "zh": _read_chinese}[language](rows)
    samples = []
    for fact, stated in zip(facts, read, strict=True):
        for row, features in stated:
            if all(row[name] == fact[name] for name in ("head", "relation", "tail")):
                samples.append(Sample(fact["corpus"], fact["verdicts"][0], features))
                break
    return samples


def _read_english(rows: list[dict[str, Any]]) -> Iterator[Stated]:
    prose = [Reduced(lay_out(row).prose.text) for row in rows]
    docs = parse(load_english(), (text.text for text in prose))
    for row, text, doc in zip(rows, prose, docs, strict=True):
        passage = understand(row, tree_of(doc, text))
        triples = find_triples(passage, find_clauses(passage.tree))
        yield ((triple_row(passage, t), triple_features(passage, t)) for t in triples)


def _read_chinese(rows: list[dict[str, Any]]) -> Iterator[Stated]:
    for row in rows:
        passage = read_passage({"passage_id": "", **row})
        yield zip(passage.extracted.triples, passage.features, strict=True)


def passage_of(fact: dict[str, Any], language: str) -> dict[str, Any]:
    """Return the row of the passage that a fact was read from."""
    quoted = "text" in fact
    title, text = (fact["title"], fact["text"]) if quoted else _document(fact["document"])
    pieces = split("", title, text, language, PASSAGE_TOKENS)
    piece = next(piece for piece in pieces if piece["span_end"] > fact["start"])
    return piece | {"headings": fact["headings"]} if quoted else piece


@cache
def _document(name: str) -> tuple[str, str]:
    file, _, record = name.partition("#")
    if record:
        return _records(file)[record]
    text = clean((DATA / file).read_text(encoding="utf-8"))
    return title_of_text(text) or title_of_name(file), text


@cache
def _records(file: str) -> dict[str, tuple[str, str]]:
    with gzip.open(DATA / file, "rt", encoding="utf-8") as lines:
        rows = map(json.loads, lines)
        return {row["id"]: (row.get("title") or "", row["context"]) for row in rows}


def by_other_corpora(samples: list[Sample], x: np.ndarray, y: np.ndarray) -> np.ndarray:
    """Return each sample's probability under weights fitted without its corpus."""
    corpora = np.array([sample.corpus for sample in samples])
    out = np.zeros(len(samples))
    for corpus in np.unique(corpora):
        own = corpora == corpus
        out[own] = predict(x[own], fit(x[~own], y[~own], RIDGE))
    return out


def area(p: np.ndarray, y: np.ndarray) -> float:
    """Return the area under the ROC curve."""
    ranks = np.empty(len(p))
    ranks[np.argsort(p)] = np.arange(1, len(p) + 1)
    positive = y.sum()
    above = ranks[y == 1].sum() - positive * (positive + 1) / 2
    return float(above / (positive * (len(y) - positive)))


def agreement(facts: list[dict[str, Any]]) -> Iterator[bool]:
    """Yield for each triple that was judged twice whether both verdicts agree."""
    for fact in facts:
        verdicts = fact["verdicts"]
        if len(verdicts) > 1:
            yield verdicts[0] == verdicts[1]


def fit_language(language: str, weights_file: Path) -> dict[str, Any]:
    """Fit the weights of a language, write them, and return the figures."""
    facts = judged_facts(language)
    samples = judged_samples(facts)
    names, x = matrix([sample.features for sample in samples], RARE)
    useful = np.array([sample.verdict == "useful" for sample in samples], float)
    wrong = np.array([sample.verdict == "wrong" for sample in samples], float)
    p = by_other_corpora(samples, x, useful)
    twice = list(agreement(facts))
    report = {
        "judged": len(facts),
        "judged twice": len(twice),
        "agree": round(float(np.mean(twice)), 3) if twice else None,
        "stated today": len(samples),
        "useful": round(float(useful.mean()), 3),
        "wrong": round(float(wrong.mean()), 3),
        "area under ROC, other corpora": round(area(p, useful), 3),
        "calibration error, other corpora": round(calibration_error(p, useful), 3),
        "from": {
            str(least): {
                "kept": round(float((p >= least).mean()), 3),
                "useful": round(float(useful[p >= least].mean()), 3),
                "wrong": round(float(wrong[p >= least].mean()), 3),
                "of the useful": round(float(useful[p >= least].sum() / useful.sum()), 3),
            }
            for least in (0.3, 0.4, 0.5, 0.6)
        },
    }
    fitted = zip(names, fit(x, useful, RIDGE), strict=True)
    weights = {name: round(float(weight), 4) for name, weight in fitted}
    text = json.dumps({"other corpora": report, "weights": weights}, indent=1, ensure_ascii=False)
    weights_file.write_text(text + "\n", encoding="utf-8")
    return report


def main() -> None:
    """Fit, report, and write the weights of both languages."""
    report = fit_language("en", WEIGHTS)
    if judged_facts("zh"):
        report["Chinese"] = fit_language("zh", CHINESE_WEIGHTS)
    write_results("judged-facts", "python -m benchmarks.judged_facts", report)
    print(json.dumps(report, indent=1))


if __name__ == "__main__":
    main()
