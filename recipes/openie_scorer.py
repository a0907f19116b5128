"""The CaRB metric for open information extraction (Bhardwaj, Aggarwal and Mausam, EMNLP 2019).

A gold tuple and a predicted one are compared as binary tuples (first argument; all the others
joined), part by part, as bags of tokens: precision is the share of predicted tokens found in the
same part of the gold, recall the share of gold tokens found in the same part of the prediction.
They match at all only if their relations share a token ("be" stands for any of its forms).
In a sentence each gold tuple takes the prediction with its best recall, and each prediction at most
one gold tuple, the pairs with the best precision first. Sums over sentences at every confidence
threshold give the precision-recall curve. Case counts, and ties go to the first:
only in this way are the published figures reproduced.
"""

import gzip
import re
from collections import Counter, defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

BE_FORMS = frozenset(["be", "is", "am", "are", "was", "were", "been", "being"])
# Reported speech is often turned round ("X , said Y"): the arguments are then tried both ways.
SAID_FORMS = ("said", "told", "added", "adds", "says")
NOT_LETTERS = re.compile(r"[^\w]+")


@dataclass(frozen=True, slots=True)
class OpenTuple:
    """One extraction: relation words and arguments as in the sentence, with its confidence."""

    relation: str
    arguments: tuple[str, ...]
    confidence: float = 1.0


@dataclass(frozen=True, slots=True)
class OpenScore:
    """The best F1 over all thresholds, the precision and recall there, and the curve's area."""

    f1: float
    precision: float
    recall: float
    auc: float
    threshold: float
    curve: tuple[tuple[float, float, float], ...]


Extractions = dict[str, list[OpenTuple]]


def read_text(path: Path) -> str:
    """Return a file's text, unpacked if its name ends in .gz."""
    data = path.read_bytes()
    return (gzip.decompress(data) if path.suffix == ".gz" else data).decode("utf-8")


def read_gold(path: Path) -> Extractions:
    """Read CaRB's gold file: sentence, relation, first argument, others, tab separated.

    Fields marked "C: " name the speaker and are no arguments.
    """
    gold: Extractions = defaultdict(list)
    for line in read_text(path).split("\n"):
        sentence, *fields = line.strip().split("\t")
        if len(fields) < 2:
            continue
        arguments = tuple(field.strip() for field in fields[1:] if "C: " not in field)
        gold[sentence.strip()].append(OpenTuple(fields[0].strip(), arguments))
    return dict(gold)


def read_openie5(path: Path) -> Extractions:
    """Read the output of OpenIE 4 or 5; a context is put before the first argument."""
    found: Extractions = defaultdict(list)
    for line in read_text(path).split("\n"):
        fields = line.strip().split("\t")
        if len(fields) < 6 or not all(fields[2:5]):
            continue
        first, relation = (_inside(part) for part in fields[2:4])
        others = [_inside(part) for part in fields[4].strip().split(");")]
        context = _inside(fields[1]) if fields[1] else ""
        if not f"{first} {relation}".startswith(context):
            first = f"{context} {first}"
        found[fields[5]].append(OpenTuple(relation, (first, *others), float(fields[0])))
    return dict(found)


def _inside(part: str) -> str:
    """Return the words of `SimpleArgument(words,List([0, 9)))`."""
    return part[part.index("(") + 1 : part.index(",List(")]


def match(gold: OpenTuple, predicted: OpenTuple) -> tuple[float, float]:
    """Return precision and recall of one prediction against one gold tuple.

    For reported speech the better of the two argument orders counts.
    """
    ours, theirs = _parts(gold), _parts(predicted)
    straight = _match_parts(ours, theirs)
    if len(theirs) > 2 and any(form in gold.relation for form in SAID_FORMS):
        return max(straight, _match_parts(ours, [theirs[0], theirs[2], theirs[1]]))
    return straight


def _parts(extraction: OpenTuple) -> list[list[str]]:
    first, *others = extraction.arguments or ("",)
    parts = [extraction.relation, first]
    if others:
        parts.append(" ".join(others))
    return [part.split() for part in parts]


def _match_parts(gold: list[list[str]], predicted: list[list[str]]) -> tuple[float, float]:
    shared = _shared(gold[0], predicted[0])
    left = Counter(predicted[0]) - Counter(gold[0])
    if left["be"] and BE_FORMS.intersection(gold[0]):
        shared += 1
    if not shared or len(predicted) < len(gold):
        return 0.0, 0.0
    predicted = predicted[: len(gold)]
    shared += sum(_shared(g, p) for g, p in zip(gold[1:], predicted[1:], strict=True))
    return shared / sum(map(len, predicted)), shared / sum(map(len, gold))


def _shared(gold: list[str], predicted: list[str]) -> int:
    return (Counter(gold) & Counter(predicted)).total()


def score(gold: Extractions, predicted: Extractions) -> OpenScore:
    """Score predictions against gold; sentences are matched by their letters and digits alone.

    Sentences without gold tuples do not count; the area under the curve is by trapezoids from the
    point of precision 1 at recall 0.
    """
    by_key = {_key(sentence): tuples for sentence, tuples in predicted.items()}
    thresholds = sorted({t.confidence for tuples in by_key.values() for t in tuples}, reverse=True)
    place = {confidence: n for n, confidence in enumerate(thresholds)}
    change = [[0.0, 0.0, 0.0] for _ in thresholds]
    gold_tuples = 0
    for sentence, tuples in gold.items():
        gold_tuples += len(tuples)
        before = (0.0, 0.0, 0.0)
        for confidence, *sums in _sentence_sums(tuples, by_key.get(_key(sentence), [])):
            for n, (now, then) in enumerate(zip(sums, before, strict=True)):
                change[place[confidence]][n] += now - then
            before = (sums[0], sums[1], sums[2])
    return _best(thresholds, change, gold_tuples)


def _key(sentence: str) -> str:
    return NOT_LETTERS.sub("", sentence.replace("-LRB-", "").replace("-RRB-", ""))


def _sentence_sums(
    gold: list[OpenTuple], predicted: list[OpenTuple]
) -> Iterable[tuple[float, float, float, float]]:
    """Yield, for falling thresholds, the sums of matched precision, predictions, and recall."""
    matches = [[match(g, p) for p in predicted] for g in gold]
    for threshold in sorted({p.confidence for p in predicted}, reverse=True):
        kept = [k for k, p in enumerate(predicted) if p.confidence >= threshold]
        recall = sum(max(row[k][1] for k in kept) for row in matches)
        yield threshold, _greedy_precision(matches, kept), float(len(kept)), recall


def _greedy_precision(matches: list[list[tuple[float, float]]], kept: list[int]) -> float:
    pairs = sorted((-row[k][0], g, k) for g, row in enumerate(matches) for k in kept if row[k][0])
    golds: set[int] = set()
    predictions: set[int] = set()
    total = 0.0
    for negative, g, k in pairs:
        if g not in golds and k not in predictions:
            golds.add(g)
            predictions.add(k)
            total -= negative
    return total


def _best(thresholds: list[float], change: list[list[float]], gold_tuples: int) -> OpenScore:
    precision_sum = predictions = recall_sum = area = 0.0
    best = OpenScore(0.0, 0.0, 0.0, 0.0, 0.0, ())
    curve = [(1.0, 0.0, float("inf"))]
    for threshold, (precise, count, recalled) in zip(thresholds, change, strict=True):
        precision_sum, predictions, recall_sum = (
            precision_sum + precise,
            predictions + count,
            recall_sum + recalled,
        )
        # Sentences that are not in the gold leave thresholds at which nothing was predicted.
        precision = precision_sum / predictions if predictions else 1.0
        recall = recall_sum / gold_tuples if gold_tuples else 0.0
        area += (recall - curve[-1][1]) * (precision + curve[-1][0]) / 2
        curve.append((precision, recall, threshold))
        f1 = 2 * precision * recall / (precision + recall) if precision + recall else 0.0
        if f1 > best.f1:
            best = OpenScore(f1, precision, recall, 0.0, threshold, ())
    return OpenScore(best.f1, best.precision, best.recall, area, best.threshold, tuple(curve))
