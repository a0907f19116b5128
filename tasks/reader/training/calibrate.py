"""Fit probabilities: `python -m tasks.reader.training.calibrate FOLDER --data DATA`.

Each question of the validation documents ("choose") is asked of eight passages, as retrieval gives
them: its own and those most similar to the question; for every fifth question its own is left out,
so that nothing answers it. They are read as `almanac ask` reads. The weights of an answer's context
are fitted by a conditional logit over the spans of each question (McFadden 1973); the probability
that the best answer is right, by a logistic regression on its worth and its gap to the next (Platt
1999), and in English also on the cosine of question and sentence.
Both are fitted in each language, to words that answer and to sentences that contain the answer. A
second logistic regression is fitted to the margins of the other ends of relations, which are read
from the passages of their data sets.
"""

import argparse
import json
import math
import os
import random
from collections import Counter
from collections.abc import Sequence
from dataclasses import astuple, dataclass
from pathlib import Path
from typing import Any, get_args

import numpy as np
from scipy.optimize import minimize
from scipy.special import logsumexp

from schemas.answers import Evidence
from tasks.models.encoders.minilm import MiniLM
from tasks.models.span_reader.reader import Span, TrainedReader, Unit
from tasks.reader.reading import candidates, readings
from tasks.reader.texts import Part, Text, pieces
from tasks.reader.training.examples import Question as DataQuestion
from tasks.reader.training.examples import all_questions, part_of
from tasks.reader.training.score import f1
from tasks.retrieval.linked_names import LinkedName
from tasks.text.languages import language_of
from tasks.text.question import Question, analyse
from tasks.text.sentences import sentences
from tasks.text.stems import words_of

PASSAGES = 8
RIGHT = 0.5  # least word overlap (F1) with an answer that counts as right
LANGUAGES = ("en", "zh")
UNITS: tuple[Unit, ...] = get_args(Unit)
CHANCE = ("worth", "gap", "intercept")
PLAIN = {"near": 8.0, "around": 2.0, "title": 2.0, "worth": 1.0, "gap": 0.0, "intercept": 0.0}


@dataclass(frozen=True, slots=True)
class Asked:
    """A question, the texts to read, its answers (none if left out), and its own passage."""

    question: Question
    texts: list[Text]
    golds: list[str]
    passage: str

    def is_right(self, unit: Unit, words: str, sentence: str) -> bool:
        """Return whether words, or the sentence that contains them, give the answer."""
        if unit == "words":
            return bool(self.golds) and f1(words, self.golds) >= RIGHT
        return sentence in self.passage and any(gold in sentence for gold in self.golds)


@dataclass(frozen=True, slots=True)
class Judged:
    """The best answer to a question, whether it is right, and whether the texts have an answer."""

    worth: float
    gap: float
    likeness: float | None
    right: bool
    answerable: bool


class ReadOnce(TrainedReader):
    """A reader that reads each question and its texts only once."""

    def __init__(self, folder: Path) -> None:
        """Load the weights."""
        super().__init__(folder)
        self._spans: dict[tuple[str, tuple[str, ...]], list[Span]] = {}

    def read(self, question: str, texts: list[str]) -> list[Span]:
        """Return the likeliest spans of each text's windows, the best first."""
        key = question, tuple(texts)
        if key not in self._spans:
            self._spans[key] = super().read(question, texts)
        return self._spans[key]

    def weigh(self, weights: dict[str, Any]) -> None:
        """Replace the weights for worth and probability."""
        self._weights = weights


class Contexts:
    """The passages of the data in a language, as a source of texts without known names."""

    def __init__(self, rows: Sequence[DataQuestion], language: str) -> None:
        """Index the passages by their words, and in English by meaning, too."""
        self.titles = {row.context: row.title for row in rows}
        self.texts = sorted(self.titles)
        self._cut = language == "zh"
        self._words = [words_of(text, cut_chinese=self._cut) for text in self.texts]
        self._documents = Counter(word for words in self._words for word in words)
        self._encoder = None if self._cut else MiniLM()
        self._vectors = self._encoder.encode(self.texts) if self._encoder else None
        self.left_out = self.put_first = ""

    def near(self, question: Question) -> list[Text]:
        """Return the passages most similar to a question."""
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

    def about(self, names: Sequence[tuple[str, str]]) -> list[list[Text]]:
        """Return no texts: no names are known here."""
        return [[] for _ in names]

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

    def likeness(self, question: Question, text: str) -> float | None:
        """Return the cosine of a question and a text in English."""
        if self._encoder is None:
            return None
        query, vector = self._encoder.encode([question.text, text])
        return float(query @ vector)

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


def ask(rows: list[DataQuestion], source: Contexts, most: int) -> list[Asked]:
    """Return questions with the texts that a source gives for them."""
    questions = []
    for number, row in enumerate(random.Random(5).sample(rows, min(most, len(rows)))):
        answerable = number % 5 > 0
        source.put_first, source.left_out = (row.context, "") if answerable else ("", row.context)
        question = analyse(row.question)
        golds = [row.context[start:end] for start, end in row.answers] if answerable else []
        questions.append(Asked(question, source.near(question), golds, row.context))
    return questions


def judged(questions: list[Asked], source: Contexts, reader: ReadOnce, unit: Unit) -> list[Judged]:
    """Return the best answers to questions, and whether they are right."""
    results = []
    for row in questions:
        *_, reading = readings(row.question, row.texts, source, reader)
        answers = reading.answers if unit == "words" else reading.sentences
        if answers:
            best = answers[0]
            right = row.is_right(unit, best.text, reading.part(best).evidence.text)
            results.append(Judged(best.worth, best.gap, best.likeness, right, bool(row.golds)))
    return results


def fitted_worth(
    questions: list[Asked], source: Contexts, reader: ReadOnce, unit: Unit
) -> dict[str, float]:
    """Return the weights of the shares of a question that an answer's context covers."""
    choices = []
    for row in questions:
        *_, spans = candidates(row.question, row.texts, source, reader)
        features, right = [], []
        for candidate in spans:
            span = candidate.span
            words = row.texts[span.text].words[span.start : span.end]
            margin = span.margin if unit == "words" else span.sentence_margin
            features.append((margin, *astuple(candidate.covered)))
            right.append(row.is_right(unit, words, candidate.part.evidence.text))
        if any(right) and not all(right):
            choices.append((np.array(features), np.array(right)))

    def loss(weights: np.ndarray) -> float:
        values = [(features @ weights, right) for features, right in choices]
        chance = [logsumexp(value[right]) - logsumexp(value) for value, right in values]
        return -float(np.mean(chance)) + 1e-3 * float(weights @ weights)

    margin, *rest = minimize(loss, np.array([1.0, 0.0, 0.0, 0.0])).x
    shares = [round(float(weight / margin), 3) for weight in rest]
    return dict(zip(("near", "around", "title"), shares, strict=True))


def fit(rows: np.ndarray, right: np.ndarray) -> list[float]:
    """Return the weights of a logistic regression of `right` (n,) on `rows` (n, k)."""

    def loss(weights: np.ndarray) -> float:
        values = rows @ weights
        return float(np.mean(np.logaddexp(0.0, values) - right * values) + 1e-4 * weights @ weights)

    weights: list[float] = minimize(loss, np.zeros(rows.shape[1])).x.round(4).tolist()
    return weights


def fitted_chance(results: list[Judged]) -> dict[str, Any]:
    """Return the weights of worth and gap, and under `alike` those that include the likeness."""
    right = np.array([float(row.right) for row in results])
    rows = [(row.worth, min(row.gap, 8.0), 1.0) for row in results]
    weights: dict[str, Any] = dict(zip(CHANCE, fit(np.array(rows), right), strict=True))
    likeness = [(row.likeness,) for row in results if row.likeness is not None]
    if likeness:
        known = np.hstack([rows, likeness])
        weights["alike"] = dict(zip((*CHANCE, "likeness"), fit(known, right), strict=True))
    return weights


def calibration(results: list[Judged], reader: TrainedReader, language: str, unit: Unit) -> Any:
    """Return the calibration error, and the results of answering from each probability on."""
    chances = np.array(
        [reader.probability(r.worth, r.gap, r.likeness, language, unit) for r in results]
    )
    right = np.array([row.right for row in results])
    answerable = np.array([row.answerable for row in results])
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
    parser.add_argument(
        "--alike", action="store_true", help="fit the English weights with the cosine alone"
    )
    options = parser.parse_args()
    card = options.folder / "reader.json"
    reader = ReadOnce(options.folder)
    rows = all_questions(options.data)
    weights = json.loads(card.read_text())
    languages = LANGUAGES[:1] if options.alike else LANGUAGES
    for language in languages:
        if not options.alike:
            weights[language] = {unit: dict(PLAIN) for unit in UNITS}
        reader.weigh(weights)
        for part in ("choose", "report") if options.report else ("choose",):
            kept = [row for row in rows if row.answers and part_of(row.title) == part]
            kept = [row for row in kept if language_of(row.context) == language]
            source = Contexts(kept, language)
            questions = ask(kept, source, options.most)
            if part == "choose" and not options.alike:
                for unit in UNITS:
                    weights[language][unit] |= fitted_worth(questions, source, reader, unit)
            for unit in UNITS:
                results = judged(questions, source, reader, unit)
                if part == "choose":
                    chance = fitted_chance(results)
                    added = {"alike": chance["alike"]} if options.alike else chance
                    weights[language][unit] |= added
                figures = calibration(results, reader, language, unit)
                print(json.dumps({"part": part, "language": language, "unit": unit, **figures}))
    card.write_text(json.dumps(weights, indent=1) + "\n")


if __name__ == "__main__":
    main()
