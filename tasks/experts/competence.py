"""What an expert knows, and how sure its answers are: measured once, by questions, and kept.

After its training an expert is asked questions about what it was trained on, in wordings that it
never read. From its answers, right and wrong, a logistic regression learns the probability that an
answer is right, from three features of the answer: the share of the expert's texts that agree with
it, its likelihood, and how much less likely it is where the question names something else. About
names that it was not trained on, an expert knows nothing, however sure it is.
"""

from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from pydantic import BaseModel, ConfigDict, Field

from tasks.experts.field import Field as Names
from tasks.experts.training.tokens import TextTokenizer
from tasks.models.loaded_model import LoadedModel
from tasks.questions.normalise import bare_words
from tasks.text.languages import is_chinese

LEAST_RIGHT = 0.1  # of what it is asked in its check, what a competent expert knows
UNCALIBRATED = 0.5  # share of texts that must agree, and highest probability, without a check
KEPT_RIGHT = 0.99  # share of right answers in the check that lie above the bound
# People ask in other words than the check, and get right answers of lower probability.
HIGHEST_BOUND = 0.1
RIDGE = 1.0  # penalty of the regression's weights
LEAST_SCALES = (0.1, 0.5, 2.0)  # of the features
# The features of a certain answer, and of a guess: two of each are added to those of a check, in
# which perhaps all answers were right.
ANCHORS = ((1.0, 0.0, 5.0), (0.25, -3.0, 0.0))
MOST_LIFT = 20.0  # nats per token
ROWS = 32  # texts that are read at once
SAMPLES = 20  # questions that the manifest keeps, so that others can ask them again


class Competence(BaseModel):
    """How an expert did in its check, as its manifest keeps it.

    `right` of what the `questions` ask was known (see `share_known`). The probability of an answer
    is the logistic function of `weights` (the last is the constant) with its features, of which
    each has `means` subtracted and is divided by `scales`. Answers below `bound` are not given.
    `others` are names that the expert does not know, for the features. `samples` are some of the
    questions with their answers. `languages` are those of the questions.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    questions: int = Field(ge=0)
    right: float = Field(ge=0, le=1)
    bound: float = Field(ge=0, le=1)
    weights: tuple[float, ...] = Field(min_length=4, max_length=4)
    means: tuple[float, ...] = Field(min_length=3, max_length=3)
    scales: tuple[float, ...] = Field(min_length=3, max_length=3)
    others: tuple[str, ...] = Field(max_length=SAMPLES)
    samples: tuple[tuple[str, str], ...] = Field(max_length=SAMPLES)
    languages: tuple[str, ...] = Field(max_length=SAMPLES)

    @property
    def is_enough(self) -> bool:
        """Whether the expert is worth asking."""
        return self.right >= LEAST_RIGHT

    def probability(self, features: np.ndarray) -> np.ndarray:
        """Return the probability that answers are right, (answers,), by features (answers, 3)."""
        scaled = (features - np.array(self.means)) / np.array(self.scales)
        *weights, constant = self.weights
        return np.asarray(1 / (1 + np.exp(-(scaled @ np.array(weights) + constant))))


@dataclass(frozen=True, slots=True)
class Certainty:
    """The probability that an expert's answer is right, and whether that is enough to give it."""

    probability: float
    is_enough: bool


@dataclass(frozen=True, slots=True)
class AskedOf:
    """An answer to a prompt that names a subject, and the share of texts that agree with it."""

    prompt: str
    subject: str
    answer: str
    agreement: float


def shares_of(answers: Sequence[str]) -> dict[str, tuple[str, float]]:
    """Return the first form and the share of each answer, by its bare words; some may be empty."""
    words = [bare_words(answer) if any(map(str.isalnum, answer)) else "" for answer in answers]
    counts = Counter(words)
    forms = dict(zip(reversed(words), reversed(answers), strict=True))
    return {key: (forms[key], counts[key] / len(answers)) for key in dict.fromkeys(words) if key}


def commonest(answers: Sequence[str]) -> tuple[str, float]:
    """Return the commonest answer, the first of equals, and its share; empty without any."""
    return max(shares_of(answers).values(), key=lambda answer: answer[1], default=("", 0.0))


def features_of(loaded: LoadedModel, asked: Sequence[AskedOf], others: Sequence[str]) -> np.ndarray:
    """Return the features of answers, float64 (answers, 3).

    They are the agreement, the mean log-likelihood of the answer's tokens, and by how much it
    exceeds that after the same words about `others`, at best.
    """
    texts = [
        f"{prompt} {answer.answer}"
        for answer in asked
        for prompt in (answer.prompt, *(answer.prompt.replace(answer.subject, o) for o in others))
    ]
    means = likelihoods(loaded, texts).reshape(len(asked), -1)
    lift = means[:, 0] - means[:, 1:].max(axis=1, initial=-np.inf)
    agreements = [answer.agreement for answer in asked]
    return np.stack([agreements, means[:, 0], np.clip(lift, -MOST_LIFT, MOST_LIFT)], axis=1)


def likelihoods(loaded: LoadedModel, texts: Sequence[str]) -> np.ndarray:
    """Return the mean log-likelihood, in nats per token, of the answers in texts, (texts,).

    A text is a question with its answer, or a plain text, which is all answer. The end token
    counts, as in training.
    """
    import torch

    encode = TextTokenizer.of(loaded.tokenizer)
    whole, given = encode(list(texts)), encode.given(list(texts))
    rows = [row[-loaded.context :] for row in whole]  # a long question loses its beginning
    cut = [len(row) - len(kept) for row, kept in zip(whole, rows, strict=True)]
    starts = [max(first - lost, 1) for first, lost in zip(given, cut, strict=True)]
    means = np.zeros(len(rows))
    order = np.argsort([len(row) for row in rows])
    for begin in range(0, len(order), ROWS):
        some = order[begin : begin + ROWS]
        lengths = np.array([len(rows[n]) for n in some])
        ids = torch.full((len(some), int(lengths.max())), loaded.padding)
        for place, n in enumerate(some):
            ids[place, : len(rows[n])] = torch.tensor(rows[n])
        ids = ids.to(loaded.device)
        with torch.inference_mode():  # padding stands behind, where a causal model cannot see it
            logs = torch.log_softmax(loaded.model(input_ids=ids[:, :-1]).logits.float(), -1)
        chosen = logs.gather(-1, ids[:, 1:, None])[..., 0].cpu().numpy()
        for place, n in enumerate(some):
            means[n] = chosen[place, starts[n] - 1 : lengths[place] - 1].mean()
    return means


def invented_names(known: Sequence[str], field: Names, count: int) -> list[str]:
    """Return up to so many names that the field lacks, each made of the parts of two known ones."""
    made = []
    for first, second in zip(known, reversed(known), strict=True):
        chinese = is_chinese(first) or is_chinese(second)
        start, end = (list(n) if chinese else n.split() for n in (first, second))
        parts = [*start[: (len(start) + 1) // 2], *end[len(end) // 2 :]]
        made.append(("" if chinese else " ").join(parts))
    fresh = [name for name in dict.fromkeys(made) if name]
    if not fresh:
        return []
    return [n for n, is_known in zip(fresh, field.has(fresh), strict=True) if not is_known][:count]


def share_known(is_right: Sequence[bool], answers: Sequence[str]) -> float:
    """Return the share of right replies, each different right answer counting alike, 0 to 1.

    It is scaled so that one constant reply has 0: who says that everybody is male knows nothing.
    """
    by_answer: dict[str, list[bool]] = defaultdict(list)
    for right, answer in zip(is_right, answers, strict=True):
        by_answer[bare_words(answer)].append(right)
    by_chance = 1 / max(len(by_answer), 2)
    balanced = sum(sum(some) / len(some) for some in by_answer.values()) / max(len(by_answer), 1)
    return max(0.0, (balanced - by_chance) / (1 - by_chance))


def calibrated(features: np.ndarray, is_right: Sequence[bool], **about: object) -> Competence:
    """Return the competence that fits features (answers, 3) to whether the answers were right.

    The bound is below nearly all right answers (`KEPT_RIGHT`), and at most `HIGHEST_BOUND`.
    """
    from sklearn.linear_model import LogisticRegression

    right = np.array(is_right, bool)
    means, scales = features.mean(axis=0), np.maximum(features.std(axis=0), LEAST_SCALES)
    rows = np.vstack([features, *ANCHORS, *ANCHORS])
    regression = LogisticRegression(C=1 / RIDGE, solver="newton-cholesky", tol=1e-10)
    regression.fit((rows - means) / scales, np.append(right, [True, False] * 2))
    weights = np.append(regression.coef_[0], regression.intercept_)
    rounded = {
        "weights": tuple(np.round(weights, 6).tolist()),
        "means": tuple(np.round(means, 6).tolist()),
        "scales": tuple(np.round(scales, 6).tolist()),
    }
    share = float(right.mean()) if len(right) else 0.0
    made = Competence.model_validate(
        {"questions": len(right), "right": round(share, 4), "bound": 0.0, **rounded, **about}
    )
    if not right.any():
        return made
    least = float(np.quantile(made.probability(features)[right], 1 - KEPT_RIGHT))
    return made.model_copy(update={"bound": round(min(least, HIGHEST_BOUND), 6)})


def languages_of(questions: Iterable[str]) -> tuple[str, ...]:
    """Return the languages that at least a tenth of the questions are in, `en` and `zh` at most."""
    counts = Counter("zh" if is_chinese(question) else "en" for question in questions)
    return tuple(sorted(name for name, n in counts.items() if n >= 0.1 * counts.total()))
