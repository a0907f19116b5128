"""Examples with their candidates, and examples as if some relations had never been learned.

A relation that no example means can only be scored by the words that its name shares with a
question. How much these count, compared with what was learned about other relations, is learned
from simulated absences: the relations are divided into folds, and an example is presented as if no
question had meant the relations of one fold; the words that occur only in questions of that fold
are left out.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from tasks.programs.planner.path_model import QUESTION_BUCKETS, Rows

WRONG = 100  # negative candidates per question and step
FOLDS = 5  # of relations that are absent together
ABSENT = 0.5  # share of the steps of an example for which a fold is absent
MEANT = 0.5  # share of these for which it is one that the example means


@dataclass(frozen=True)
class Explained:
    """An example with its candidates, and how well each explains the answers, 0 to 1.

    `hops` are those of the path that the question most probably means, as 2 r + inverse; `masked`
    is the question without its topic.
    """

    rows: Rows
    fit: np.ndarray  # float32 (candidates,)
    hops: tuple[int, ...]
    masked: str = ""

    def best_grams(self) -> list[np.ndarray]:
        """Return the n-grams of the question's readings that explain the answers best."""
        best = self.rows.readings[self.fit >= self.fit.max()]
        return [self.rows.grams[reading] for reading in np.unique(best)]

    def sample(self, random: np.random.Generator) -> "Explained":
        """Return the example with all candidates that explain something and some of the others."""
        wrong = np.flatnonzero(self.fit == 0)
        if len(wrong) > WRONG:
            wrong = random.choice(wrong, WRONG, replace=False)
        chosen = np.concatenate([np.flatnonzero(self.fit), wrong])
        return replace(self, rows=self.rows.take(chosen), fit=self.fit[chosen])


class Absences:
    """Shows examples as if some relations were absent from what is learned."""

    def __init__(self, explained: Sequence[Explained], relations: int, seed: int) -> None:
        """Deal the relations that examples mean into folds; `relations` is their number in all."""
        self._random = np.random.default_rng([seed, 1])
        meant = sorted({hop // 2 for example in explained for hop in example.hops})
        self._folds = min(FOLDS, len(meant))
        self._fold = np.full(relations, -1)
        self._fold[self._random.permutation(meant)] = np.arange(len(meant)) % max(self._folds, 1)
        self._examples = np.zeros(QUESTION_BUCKETS, np.int32)  # with each n-gram
        self._of_fold = np.zeros((self._folds, QUESTION_BUCKETS), np.int32)
        for example in explained:
            grams = np.unique(np.concatenate(example.best_grams()) % QUESTION_BUCKETS)
            self._examples[grams] += 1
            for fold in self._meant_by(example):
                self._of_fold[fold, grams] += 1

    def without_some(self, example: Explained) -> Explained:
        """Return an example with a random fold of relations absent, or with none.

        Words that occur in no other example count as unknown.
        """
        meant = self._meant_by(example)
        if self._folds < 2 or self._random.random() >= ABSENT:
            return replace(example, rows=_with_unknown(example.rows, self._examples, 1))
        of_meant = self._random.random() < MEANT
        fold = self._random.choice(meant) if of_meant else self._random.integers(self._folds)
        others = self._examples - self._of_fold[fold]
        rows = _with_unknown(example.rows, others, int(fold not in meant))
        trusted = (self._fold[rows.hops // 2] != fold) | (rows.hops < 0)
        grams = [bag[others[bag % QUESTION_BUCKETS] > 0] for bag in rows.grams]
        rows = replace(rows, grams=grams, trusted=trusted.astype(np.float32))
        return replace(example, rows=rows)

    def _meant_by(self, example: Explained) -> list[int]:
        return sorted({int(self._fold[hop // 2]) for hop in example.hops})


def _with_unknown(rows: Rows, examples: np.ndarray, own: int) -> Rows:
    """Return rows with the share of each reading's words that at most `own` examples have."""
    unknown = [
        (examples[words % QUESTION_BUCKETS] <= own).mean() if len(words) else 0.0
        for words in rows.words
    ]
    return replace(rows, unknown=np.array(unknown, np.float32)[rows.readings])
