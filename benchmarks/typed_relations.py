"""How well the shipped model names relations: python -m benchmarks.typed_relations [--calibrate].

Re-DocRED: the third of the development documents that the model was not trained on, with gold
mentions; micro F1 over all pairs and relations, and by the probability that is fitted to one half
of them and measured on the other (`--calibrate` writes that of all beside the weights).

Unseen relations: texts of wiki80 and FewRel with ten relations that the model was not trained on,
given by name and description. With gold ends each text is asked about both directions of its pair.
By an engine, ends are the names and dates that the rules recognise, and all pairs of a text are
asked about; a text has one labelled fact, so that others, right ones too, count as wrong.
"""

import argparse
import json
from typing import Any

import numpy as np
from scipy.special import expit

from benchmarks.calibrate import calibration_error, fit
from benchmarks.command import DATA
from benchmarks.results_file import write_results
from tasks.extract.rules.english import parsed, understand
from tasks.extract.rules.tree import tree_of
from tasks.extract.typed.facts import Entity, entities_of
from tasks.extract.typed.model import SHIPPED_MODEL, TypedModel
from tasks.extract.typed.training.examples import (
    HELD_OUT,
    SENTENCES,
    Example,
    meanings,
    redocred,
    spans_file,
)
from tasks.text.names import normalise_name

LOWEST = -4.0  # scores below are never facts
Row = tuple[int, str, float, bool]  # document, relation, score, whether it is labelled
SAMPLES = 1000  # of documents, for the interval
FEW = 12  # labels, from which on a relation has an intercept of its own
PRECISIONS = (0.8, 0.85, 0.9)


def scored(model: TypedModel, documents: list[Example]) -> list[tuple[int, str, float, bool]]:
    """Return document, relation, score and whether it is labelled, of all likely facts."""
    labels = {label[2] for document in documents for label in document.labels}
    columns = [place for place, name in enumerate(model.relations) if name in labels]
    vectors = model.own_vectors()[columns]
    rows = []
    for number, document in enumerate(documents):
        size = len(document.entities)
        pairs = np.array([(h, t) for h in range(size) for t in range(size) if h != t], np.int64)
        scores = model.scores(document.text, document.entities, document.kinds, pairs, vectors)
        known = set(document.labels)
        for row, column in zip(
            *(part.tolist() for part in np.nonzero(scores > LOWEST)), strict=True
        ):
            relation = model.relations[columns[column]]
            head, tail = pairs[row].tolist()
            right = (head, tail, relation) in known
            rows.append((number, relation, float(scores[row, column]), right))
    return rows


def f1_of(chosen: np.ndarray, right: np.ndarray, given: np.ndarray, gold: np.ndarray) -> float:
    """Return the micro F1 of the documents chosen."""
    return float(2 * right[chosen].sum() / max(given[chosen].sum() + gold[chosen].sum(), 1))


def of_documents(
    rows: list[tuple[int, str, float, bool]], documents: list[Example]
) -> dict[str, Any]:
    """Return F1 with its interval, and the recall at some precisions."""
    size = len(documents)
    gold = np.array([len(document.labels) for document in documents])
    right, given = np.zeros(size), np.zeros(size)
    for number, _, score, is_right in rows:
        given[number] += score > 0
        right[number] += score > 0 and is_right
    drawn = np.random.default_rng(1).integers(0, size, (SAMPLES, size))
    interval = np.quantile([f1_of(d, right, given, gold) for d in drawn], (0.025, 0.975))
    order = sorted(rows, key=lambda row: -row[2])
    hits = np.cumsum([row[3] for row in order])
    precision = hits / np.arange(1, len(order) + 1)
    recall = {}
    for least in PRECISIONS:
        enough = np.nonzero(precision >= least)[0]
        recall[f"recall at precision {least}"] = float(hits[enough[-1]] / gold.sum())
    return {
        "documents": size,
        "labels": int(gold.sum()),
        "F1": f1_of(np.arange(size), right, given, gold),
        "F1 95%": interval.tolist(),
        "precision": float(right.sum() / given.sum()),
        "recall": float(right.sum() / gold.sum()),
        **recall,
    }


def calibrated(rows: list[tuple[int, str, float, bool]]) -> dict[str, Any]:
    """Return slope and intercepts of the probability, fitted to the scores."""
    counts: dict[str, int] = {}
    for _, relation, _, is_right in rows:
        counts[relation] = counts.get(relation, 0) + is_right
    names = sorted(name for name, count in counts.items() if count >= FEW)
    place = {name: number for number, name in enumerate(names)}
    x = np.zeros((len(rows), 2 + len(names)))
    x[:, 0] = 1.0
    x[:, 1] = [row[2] for row in rows]
    for number, (_, relation, _, _) in enumerate(rows):
        if relation in place:
            x[number, 2 + place[relation]] = 1.0
    weights = fit(x, np.array([row[3] for row in rows], float), 1.0)
    shifts = {name: float(weights[0] + weights[2 + place[name]]) for name in names}
    return {"slope": float(weights[1]), "intercepts": {"any": float(weights[0]), **shifts}}


def probabilities(rows: list[tuple[int, str, float, bool]], fitted: dict[str, Any]) -> np.ndarray:
    """Return the fitted probability of each row."""
    shifts = fitted["intercepts"]
    logits = [fitted["slope"] * s + shifts.get(name, shifts["any"]) for _, name, s, _ in rows]
    result: np.ndarray = expit(np.array(logits))
    return result


def unseen_texts() -> list[Example]:
    """Return the texts of relations that the model was not trained on."""
    folder = DATA / "more" / "re"
    return [
        example
        for name, (universe, whole, _) in SENTENCES.items()
        if universe in ("wiki80", "fewrel")
        for example in spans_file(folder / f"{name}.jsonl.gz", universe, whole=whole)
        if example.held_out and len(example.labels) == 1
    ]


def of_unseen(model: TypedModel, texts: list[Example]) -> dict[str, Any]:
    """Return F1 over the texts of unseen relations, with gold ends and with recognised ones.

    The least score is the one with the best F1 on one half of the texts; the other is measured.
    """
    known = meanings(DATA)
    vectors = model.relation_vectors([": ".join(known[relation]) for relation in HELD_OUT])
    ends = {"gold ends": [_gold_ends(text) for text in texts], "recognised ends": recognised(texts)}
    half = len(texts) // 2
    report: dict[str, Any] = {"texts measured": len(texts) - half}
    for name, entities in ends.items():
        rows = [
            (number, score, fact == _folded_label(text))
            for number, (text, there) in enumerate(zip(texts, entities, strict=True))
            for fact, score in named(model, text.text, there, vectors)
        ]
        tried = np.arange(LOWEST, 4.0, 0.25)
        first = [row for row in rows if row[0] < half]
        least = max(tried, key=lambda score: _f1(first, score, half)["F1"])
        others = [row for row in rows if row[0] >= half]
        report[name] = {"least score": float(least), **_f1(others, least, len(texts) - half)}
    return report


def _f1(rows: list[tuple[int, float, bool]], least: float, gold: int) -> dict[str, float]:
    right = sum(bool(row[2]) for row in rows if row[1] >= least)
    given = sum(bool(row[1] >= least) for row in rows)
    return {
        "F1": 2 * right / max(given + gold, 1),
        "precision": right / max(given, 1),
        "recall": right / gold,
    }


def cross_fitted(rows: list[Row], documents: list[Example]) -> dict[str, float]:
    """Return F1 by the probability: fitted, and its least value chosen, on the other half."""
    half, pooled, right_all, errors = len(documents) // 2, [], [], []
    for first in (True, False):
        mine = [row for row in rows if (row[0] < half) == first]
        others = [row for row in rows if (row[0] < half) != first]
        fitted = calibrated(others)
        gold = sum(
            len(document.labels) for document in (documents[half:], documents[:half])[not first]
        )
        learnt = list(
            zip(
                range(len(others)),
                probabilities(others, fitted),
                [r[3] for r in others],
                strict=True,
            )
        )
        least = max(np.arange(0.1, 0.6, 0.05), key=lambda p: _f1(learnt, p, gold)["F1"])
        chances = probabilities(mine, fitted)
        right = np.array([row[3] for row in mine], float)
        errors.append(calibration_error(chances, right))
        pooled += (chances - least).tolist()
        right_all += right.tolist()
    labels = sum(len(document.labels) for document in documents)
    together = [(0, score, bool(hit)) for score, hit in zip(pooled, right_all, strict=True)]
    return {**_f1(together, 0.0, labels), "calibration error": float(np.mean(errors))}


def _gold_ends(text: Example) -> list[Entity]:
    return [Entity(text.text[slice(*m[0])], "unknown", m) for m in text.entities]


def _folded_label(text: Example) -> tuple[str, str, str]:
    [(head, tail, relation)] = text.labels
    names = [text.text[slice(*text.entities[end][0])] for end in (head, tail)]
    return folded((names[0], relation, names[1]))


def recognised(texts: list[Example]) -> list[list[Entity]]:
    """Return the entities that the rules recognise in each text."""
    rows = [
        {"text": text.text, "subject": "", "headings": "", "passage_id": text.id, "language": "en",
         "title": "", "blocks": None, "speaker": "", "audience": ""}
        for text in texts
    ]  # fmt: skip
    return [
        [] if doc is None else entities_of(understand(row, tree_of(doc, prose)))
        for row, _, prose, doc in parsed(rows, None)
    ]


def named(
    model: TypedModel, text: str, entities: list[Entity], vectors: np.ndarray
) -> list[tuple[tuple[str, str, str], float]]:
    """Return the likeliest relation of each pair, with its score."""
    size = len(entities)
    pairs = np.array([(h, t) for h in range(size) for t in range(size) if h != t], np.int64)
    if not len(pairs):
        return []
    kinds = [entity.kind for entity in entities]
    scores = model.scores(text, [e.mentions for e in entities], kinds, pairs, vectors)
    best = scores.argmax(axis=1)
    return [
        (
            folded((entities[head].name, HELD_OUT[best[row]], entities[tail].name)),
            float(scores[row, best[row]]),
        )
        for row, (head, tail) in enumerate(pairs.tolist())
    ]


def folded(fact: tuple[str, str, str]) -> tuple[str, str, str]:
    """Return a fact with normalised names."""
    return normalise_name(fact[0]), fact[1], normalise_name(fact[2])


def main() -> None:
    """Measure, and write the result."""
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--calibrate", action="store_true")
    options.add_argument("--texts", type=int, default=1000, help="Texts of unseen relations.")
    chosen = options.parse_args()
    model = TypedModel()
    documents = [document for document in redocred(DATA) if document.held_out]
    rows = scored(model, documents)
    report = {"Re-DocRED": of_documents(rows, documents)}
    report["Re-DocRED"]["by probability"] = cross_fitted(rows, documents)
    if chosen.calibrate:
        path = SHIPPED_MODEL / "relations.json"
        card = {**json.loads(path.read_text("utf-8")), **calibrated(rows)}
        path.write_text(json.dumps(card) + "\n", "utf-8")
    texts = unseen_texts()
    texts = [texts[place] for place in np.random.default_rng(2).permutation(len(texts))]
    report["unseen relations"] = of_unseen(model, texts[: chosen.texts])
    write_results("typed-relations", "python -m benchmarks.typed_relations", report)
    print(json.dumps(report, indent=1))


if __name__ == "__main__":
    main()
