"""Fit the confidence of triples to judged facts: python -m recipes.judged_facts.

`recipes/judged/facts.jsonl` has triples of English and Chinese corpora with where they were read
and what a reader, who knew neither rules nor confidence, thought of them by docs/judging.md:
useful, useless or wrong. A row quotes the text around its fact, or names a `document`, which is a
file below `$ALMANAC_DATA/more` or a record of one (`rc/cmrc2018_dev_zh.jsonl.gz#ID`); `start` and
`end` count the characters of the quotation or of the document. A corpus whose name
begins with `zh_` is Chinese. Triples that today's rules do not state any more are left out. Per
language a ridge logistic regression learns which are useful, English ones also from the states of
the parser's encoder. These have so many weights that it is too sure of itself: a line over the log
odds of corpora that the weights have not seen (Platt's) makes it as sure as it is right there.
Every figure is of such corpora, with the 95 % interval of 300 draws of corpora. Writes the weights
to confidence.json and state_weights.safetensors in tasks/extract/rules and to
tasks/extract/rules/chinese/confidence.json, which stays as it is without judged Chinese facts.
"""

import gzip
import hashlib
import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
from safetensors.numpy import save_file

from recipes.command import DATA, parser_of, run_command
from recipes.ridge import calibration_error, fit, matrix, predict
from tasks.extract.english_pipeline.load import SHIPPED_MODEL, load_english
from tasks.extract.extracted import Mention
from tasks.extract.rules.chinese.passage import WEIGHTS as CHINESE_WEIGHTS
from tasks.extract.rules.chinese.read import read_passage
from tasks.extract.rules.clauses import find_clauses
from tasks.extract.rules.confidence import STATE_WEIGHTS, STATES, WEIGHTS, centred
from tasks.extract.rules.english import find_triples, understand
from tasks.extract.rules.layout import lay_out
from tasks.extract.rules.tree import Reduced, parse, tree_of
from tasks.extract.rules.triple import triple_features, triple_row, triple_states
from tasks.ingest.formats.cleaning import clean
from tasks.ingest.formats.names import title_of_name, title_of_text
from tasks.ingest.split import split

JUDGED = Path(__file__).parent / "judged" / "facts.jsonl"
RIDGE = {"en": 15.0, "zh": 10.0}
RARE = {"en": 15, "zh": 5}  # a feature of fewer facts has no weight
STATE_SCALE = 0.05  # so that a state weighs as little as a few features; their deviation is 3.3
DRAWS = 300
REPORTED = (0.3, 0.4, 0.5, 0.6, 0.7)
PRECISION = 0.8  # the share of useful triples that a least confidence is chosen for
LEASTS = [least / 100 for least in range(30, 95, 5)]
PASSAGE_TOKENS = 256

Stated = Iterable[tuple[Mention, dict[str, float], np.ndarray]]
NO_STATES = np.zeros((0, STATES[1]), np.float32)


@dataclass(frozen=True, slots=True)
class Sample:
    """A judged triple: its corpus, the first verdict on it, its features and states today."""

    corpus: str
    verdict: str
    features: dict[str, float]
    states: np.ndarray


def judged_facts(language: str, most: int | None = None) -> list[dict[str, Any]]:
    """Return the judged facts of a language, or those of its first `most` corpora by name."""
    rows = map(json.loads, JUDGED.read_text(encoding="utf-8").splitlines())
    facts = [fact for fact in rows if _language(fact) == language]
    corpora = sorted({fact["corpus"] for fact in facts})[:most]
    return [fact for fact in facts if fact["corpus"] in corpora]


def _language(fact: dict[str, Any]) -> str:
    return "zh" if fact["corpus"].startswith("zh_") else "en"


def judged_samples(facts: list[dict[str, Any]]) -> list[Sample]:
    """Return the judged triples, all of one language, that today's rules state."""
    language = _language(facts[0])
    rows = [passage_of(fact, language) for fact in facts]
    read = {"en": _read_english, "zh": _read_chinese}[language](rows)
    samples = []
    for fact, stated in zip(facts, read, strict=True):
        for row, features, states in stated:
            if all(row[name] == fact[name] for name in ("head", "relation", "tail")):
                samples.append(Sample(fact["corpus"], fact["verdicts"][0], features, states))
                break
    return samples


def _read_english(rows: list[dict[str, Any]]) -> Iterator[Stated]:
    prose = [Reduced(lay_out(row).prose.text) for row in rows]
    docs = parse(load_english(), (text.text for text in prose))
    for row, text, doc in zip(rows, prose, docs, strict=True):
        passage = understand(row, tree_of(doc, text))
        triples = find_triples(passage, find_clauses(passage.tree))
        yield (
            (triple_row(passage, t), triple_features(passage, t), triple_states(passage, t))
            for t in triples
        )


def _read_chinese(rows: list[dict[str, Any]]) -> Iterator[Stated]:
    for row in rows:
        passage = read_passage({"passage_id": "", **row})
        rows_and_features = zip(passage.extracted.triples, passage.features, strict=True)
        yield ((row, features, NO_STATES) for row, features in rows_and_features)


def passage_of(fact: dict[str, Any], language: str) -> dict[str, Any]:
    """Return the row of the passage that a fact was read from."""
    quoted = "document" not in fact
    title, text = (fact["title"], fact["text"]) if quoted else _document(fact["document"])
    pieces = split("", title, text, language, PASSAGE_TOKENS)
    piece = next(piece for piece in pieces if piece["span_end"] > fact["start"])
    known = {name: fact[name] for name in ("headings", "speaker") if name in fact}
    return piece | known


@cache
def _document(name: str) -> tuple[str, str]:
    file, _, record = name.partition("#")
    if record:
        return _records(file)[record]
    text = clean((DATA / "more" / file).read_text(encoding="utf-8"))
    return title_of_text(text) or title_of_name(file), text


@cache
def _records(file: str) -> dict[str, tuple[str, str]]:
    with gzip.open(DATA / "more" / file, "rt", encoding="utf-8") as lines:
        rows = map(json.loads, lines)
        return {row["id"]: (row.get("title") or "", row["context"]) for row in rows}


def columns_of(samples: list[Sample], rare: int) -> tuple[list[str], np.ndarray, np.ndarray]:
    """Return the names of features, their columns and those of the states, and the mean state.

    The columns of the states come last and have no names.
    """
    names, x = matrix([sample.features for sample in samples], rare)
    states = np.array([sample.states for sample in samples])
    there = states[states.any(-1)]
    mean = there.mean(0) if len(there) else np.zeros(STATES[1], np.float32)
    scaled = centred(states, mean).reshape(len(samples), -1) * STATE_SCALE
    return names, np.hstack([x, scaled]), mean


def by_other_corpora(
    samples: list[Sample], x: np.ndarray, y: np.ndarray, ridge: float
) -> np.ndarray:
    """Return each sample's probability under weights fitted without its corpus."""
    corpora = np.array([sample.corpus for sample in samples])
    out = np.zeros(len(samples))
    start = fit(x, y, ridge)
    for corpus in np.unique(corpora):
        own = corpora == corpus
        out[own] = predict(x[own], fit(x[~own], y[~own], ridge, start))
    return out


def log_odds(p: np.ndarray) -> np.ndarray:
    """Return a column of ones and the log odds of probabilities, as a line is fitted to them."""
    return np.column_stack([np.ones(len(p)), np.log(p / (1 - p))])


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


def interval(p: np.ndarray, y: np.ndarray, corpora: np.ndarray) -> list[float]:
    """Return the 95 % interval of the area under the ROC curve over draws of corpora."""
    random = np.random.default_rng(0)
    places = [np.flatnonzero(corpora == corpus) for corpus in np.unique(corpora)]
    areas = []
    for _ in range(DRAWS):
        drawn = np.concatenate([places[n] for n in random.integers(0, len(places), len(places))])
        areas.append(area(p[drawn], y[drawn]))
    return [round(float(bound), 3) for bound in np.percentile(areas, [2.5, 97.5])]


def least_for(p: np.ndarray, useful: np.ndarray) -> float:
    """Return the least of LEASTS from which PRECISION of the triples are useful, else the last."""
    enough = [least for least in LEASTS if useful[p >= least].mean() >= PRECISION]
    return enough[0] if enough else LEASTS[-1]


def chosen_elsewhere(p: np.ndarray, useful: np.ndarray, corpora: np.ndarray) -> np.ndarray:
    """Return which triples pass the least confidence that all other corpora choose."""
    passing = np.zeros(len(p), bool)
    for corpus in np.unique(corpora):
        own = corpora == corpus
        passing[own] = p[own] >= least_for(p[~own], useful[~own])
    return passing


def figures_of(samples: list[Sample], p: np.ndarray) -> dict[str, Any]:
    """Return how well probabilities (samples,) tell verdicts that their weights had not seen."""
    useful = np.array([sample.verdict == "useful" for sample in samples], float)
    wrong = np.array([sample.verdict == "wrong" for sample in samples], float)
    corpora = np.array([sample.corpus for sample in samples])
    return {
        "stated today": len(samples),
        "useful": round(float(useful.mean()), 3),
        "wrong": round(float(wrong.mean()), 3),
        "area under ROC, other corpora": round(area(p, useful), 3),
        "95 % of it": interval(p, useful, corpora),
        "calibration error, other corpora": round(calibration_error(p, useful), 3),
        "from": {str(least): _shares(p >= least, useful, wrong) for least in REPORTED},
    }


def _shares(passing: np.ndarray, useful: np.ndarray, wrong: np.ndarray) -> dict[str, float]:
    return {
        "kept": round(float(passing.mean()), 3),
        "useful": round(float(useful[passing].mean()), 3),
        "wrong": round(float(wrong[passing].mean()), 3),
        "of the useful": round(float(useful[passing].sum() / useful.sum()), 3),
    }


def encoder_hash() -> str:
    """Return what tells the shipped parser's encoder, whose states have weights, from another."""
    return hashlib.sha256((SHIPPED_MODEL / "tok2vec" / "model").read_bytes()).hexdigest()[:16]


@dataclass(frozen=True)
class Fitted:
    """The figures of a language on corpora that the weights were fitted without, and the weights.

    `states` has the weights of the encoder's states (English only) and their mean.
    """

    figures: dict[str, Any]
    weights: dict[str, float]
    states: dict[str, np.ndarray]


def fit_language(language: str, most: int | None = None) -> Fitted:
    """Fit the weights of a language to its judged facts, and measure them on other corpora.

    `most` is how many corpora are taken, by default all.
    """
    facts = judged_facts(language, most)
    samples = judged_samples(facts)
    names, x, mean = columns_of(samples, RARE[language])
    useful = np.array([sample.verdict == "useful" for sample in samples], float)
    wrong = np.array([sample.verdict == "wrong" for sample in samples], float)
    corpora = np.array([sample.corpus for sample in samples])
    p = by_other_corpora(samples, x, useful, RIDGE[language])
    line = np.array([0.0, 1.0])
    if x.shape[1] > len(names):
        line = fit(log_odds(p), useful, ridge=0.0)
        p = predict(log_odds(p), line)
    twice = list(agreement(facts))
    report = {
        "judged": len(facts),
        "judged twice": len(twice),
        "agree": round(float(np.mean(twice)), 3) if twice else None,
        **figures_of(samples, p),
        f"useful for {PRECISION}": {
            "least": least_for(p, useful),
            **_shares(chosen_elsewhere(p, useful, corpora), useful, wrong),
        },
    }
    fitted = line[1] * fit(x, useful, RIDGE[language])
    fitted[0] += line[0]
    weights = {name: round(float(w), 4) for name, w in zip(names, fitted, strict=False)}
    states = {}
    if x.shape[1] > len(names):
        of_states = (fitted[len(names) :] * STATE_SCALE).reshape(STATES)
        states = {"mean": mean.astype(np.float32), "weights": of_states.astype(np.float32)}
    return Fitted(report, weights, states)


def write(fitted: Fitted, weights_file: Path) -> None:
    """Write the weights of a language where the product reads them."""
    kept: dict[str, Any] = {"other corpora": fitted.figures, "weights": fitted.weights}
    if fitted.states:
        save_file(fitted.states, str(STATE_WEIGHTS))
        kept["states of"] = encoder_hash()
    text = json.dumps(kept, indent=1, ensure_ascii=False)
    weights_file.write_text(text + "\n", encoding="utf-8")


def main() -> None:
    """Fit, report, and write the weights of both languages."""
    parser_of(__doc__).parse_args()
    for language, file in (("en", WEIGHTS), ("zh", CHINESE_WEIGHTS)):
        fitted = fit_language(language)
        write(fitted, file)
        print(json.dumps({language: fitted.figures}, indent=1, ensure_ascii=False))


if __name__ == "__main__":
    run_command(main)
