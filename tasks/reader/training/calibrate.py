"""Fit probabilities: `python -m tasks.reader.training.calibrate FOLDER --data DATA`.

Questions of the documents kept to choose with are asked of eight passages, as retrieval gives them:
their own among those most like the question, or, for every fifth question, without it, so that
nothing there answers it. They are read as `almanac ask` reads. Whether the best answer was right is
fitted to its margins in each language (Platt 1999), and so is the other end of a relation, each
with the sentence of its data set.
"""

import argparse
import json
import math
import os
import random
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from scipy.optimize import minimize

from schemas.answers import Evidence
from tasks.models.encoders.minilm import MiniLM
from tasks.models.span_reader.reader import TrainedReader
from tasks.reader.reading import read
from tasks.reader.texts import Part, Text, pieces
from tasks.reader.training.examples import Question, all_questions, part_of
from tasks.reader.training.relations import relation_questions
from tasks.reader.training.score import f1
from tasks.retrieval.linked_names import LinkedName
from tasks.text.languages import language_of
from tasks.text.question import Question as Asked
from tasks.text.question import analyse
from tasks.text.sentences import sentences
from tasks.text.stems import words_of

PASSAGES = 8
RIGHT = 0.5  # least word overlap (F1) with an answer that counts as right
LANGUAGES = ("en", "zh")
# Of the best answer: margin, gap, whether it is right, and whether there was an answer.
Judged = tuple[float, float, bool, bool]


class Contexts:
    """The passages of the data in a language as a source of texts, where nothing is known."""

    def __init__(self, rows: Sequence[Question], language: str) -> None:
        """Index the passages by their words, and in English by meaning, too."""
        self.titles = {row.context: row.title for row in rows}
        self.texts = sorted(self.titles)
        self._cut = language == "zh"
        self._words = [words_of(text, cut_chinese=self._cut) for text in self.texts]
        self._documents = Counter(word for words in self._words for word in words)
        self._encoder = None if self._cut else MiniLM()
        self._vectors = self._encoder.encode(self.texts) if self._encoder else None
        self.left_out = self.put_first = ""

    def near(self, question: Asked) -> list[Text]:
        """Return the passages most like a question."""
        question_words = words_of(question.text, cut_chinese=self._cut)
        alike = np.array([sum(map(self.rarity, question_words & words)) for words in self._words])
        if self._encoder is not None:
            alike = (
                alike / max(alike.max(), 1.0)
                + self._vectors @ self._encoder.encode([question.text])[0]
            )
        order = [self.texts[n] for n in np.argsort(-alike)[: PASSAGES + 1]]
        first = [self.put_first] if self.put_first else []
        chosen = [text for text in order if text not in (self.left_out, self.put_first)]
        kept = [*first, *chosen][:PASSAGES]
        return [piece for text in kept for piece in pieces(_text(text), self.titles[text])]

    def about(self, name: str, asked: str) -> list[Text]:
        """Return nothing: names are not known here."""
        return []

    def names_in(self, text: str) -> Sequence[LinkedName]:
        """Return nothing."""
        return ()

    def kinds_of(self, name: str) -> Sequence[str]:
        """Return nothing."""
        return ()

    def description_of(self, name: str) -> str:
        """Return nothing."""
        return ""

    def rarity(self, word: str) -> float:
        """Return a word's inverse document frequency over the passages."""
        return math.log(1 + len(self.texts) / (1 + self._documents[word]))

    def values_beside(self, part: Part, answer: str) -> list[str]:
        """Return nothing."""
        return []


def _text(words: str) -> Text:
    spans = sentences(words, language_of(words))
    return Text(
        words,
        tuple(
            Part(
                start, end, Evidence(text=words[start:end], kind="passage", graph="corpus", score=0)
            )
            for start, end in spans
        ),
    )


def judged(rows: list[Question], reader: TrainedReader, language: str, most: int) -> list[Judged]:
    """Return how the best answers of questions in a language did."""
    rows = [row for row in rows if row.answers and language_of(row.context) == language]
    source = Contexts(rows, language)
    results = []
    for number, row in enumerate(random.Random(5).sample(rows, min(most, len(rows)))):
        answerable = number % 5 > 0
        source.put_first, source.left_out = (row.context, "") if answerable else ("", row.context)
        question = analyse(row.question)
        answers = read(question, source.near(question), source, reader).answers
        if answers:
            best = answers[0]
            golds = [row.context[start:end] for start, end in row.answers] if answerable else []
            right = bool(golds) and f1(best.text, golds) >= RIGHT
            results.append((best.margin, best.gap, right, answerable))
    return results


def judged_relations(
    rows: list[Question], reader: TrainedReader, most: int
) -> list[tuple[float, bool]]:
    """Return the margin of the best span, and whether it is right, for questions of relations."""
    results = []
    for row in random.Random(7).sample(rows, min(most, len(rows))):
        best = next(iter(reader.read(row.question, [row.context])), None)
        if best:
            golds = [row.context[start:end] for start, end in row.answers]
            right = bool(golds) and f1(row.context[best.start : best.end], golds) >= RIGHT
            results.append((best.margin, right))
    return results


def fit(rows: np.ndarray, right: np.ndarray) -> list[float]:
    """Return the weights of a logistic regression of `right` (n,) on `rows` (n, k)."""

    def loss(weights: np.ndarray) -> float:
        values = rows @ weights
        return float(np.mean(np.logaddexp(0.0, values) - right * values) + 1e-4 * weights @ weights)

    weights: list[float] = minimize(loss, np.zeros(rows.shape[1])).x.round(4).tolist()
    return weights


def fitted(results: list[Judged]) -> dict[str, float]:
    """Return the weights of answers' margins and gaps."""
    rows = np.array([(margin, min(gap, 8.0), 1.0) for margin, gap, _, _ in results])
    weights = fit(rows, np.array([float(row[2]) for row in results]))
    return dict(zip(("margin", "gap", "intercept"), weights, strict=True))


def fitted_relations(results: list[tuple[float, bool]]) -> dict[str, float]:
    """Return the weights of the margins of relations' other ends."""
    rows = np.array([(margin, 1.0) for margin, _ in results])
    weights = fit(rows, np.array([float(row[1]) for row in results]))
    return dict(zip(("margin", "intercept"), weights, strict=True))


def calibration(results: list[Judged], reader: TrainedReader, language: str) -> Any:
    """Return the calibration error, and what answers above each probability are like."""
    chances = np.array([reader.probability(*row[:2], language) for row in results])
    right = np.array([row[2] for row in results])
    answerable = np.array([row[3] for row in results])
    bins = np.minimum((chances * 10).astype(int), 9)
    error = sum(
        abs(chances[bins == n].mean() - right[bins == n].mean()) * np.mean(bins == n)
        for n in set(bins.tolist())
    )
    above = {}
    for least in (0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9):
        kept = chances >= least
        above[str(least)] = {
            "right": round(float(np.mean(kept & right)), 3),
            "wrong": round(float(np.mean(kept & ~right)), 3),
            "answerable answered": round(float(kept[answerable].mean()), 3),
            "unanswerable refused": round(float(1 - kept[~answerable].mean()), 3),
        }
    return {"questions": len(results), "calibration error": round(float(error), 3), "from": above}


def main() -> None:
    """Run it."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--data", type=Path, default=os.environ.get("ALMANAC_DATA"))
    parser.add_argument("--most", type=int, default=400, help="questions of each part and language")
    parser.add_argument("--report", action="store_true", help="measure on the report part, too")
    options = parser.parse_args()
    card = options.folder / "reader.json"
    start = {"margin": 1.0, "gap": 0.0, "intercept": 0.0}
    card.write_text(json.dumps(dict.fromkeys((*LANGUAGES, "relation"), start)) + "\n")
    reader = TrainedReader(options.folder)
    rows = all_questions(options.data)
    choose = [row for row in rows if part_of(row.title) == "choose"]
    results = {name: judged(choose, reader, name, options.most) for name in LANGUAGES}
    related = relation_questions(options.data, None)
    related = [row for row in related if part_of(row.title) == "choose"]
    weights = {language: fitted(results[language]) for language in LANGUAGES}
    weights["relation"] = fitted_relations(judged_relations(related, reader, options.most))
    card.write_text(json.dumps(weights) + "\n")
    reader = TrainedReader(options.folder)
    for language in LANGUAGES:
        print(json.dumps({"choose": language, **calibration(results[language], reader, language)}))
        if options.report:
            report = [row for row in rows if part_of(row.title) == "report"]
            kept = judged(report, reader, language, options.most)
            print(json.dumps({"report": language, **calibration(kept, reader, language)}))


if __name__ == "__main__":
    main()
