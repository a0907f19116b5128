"""Which word of a Chinese clause is its predicate: a model learned from treebanks.

    python -m recipes.chinese_predicates --train FILE ... --test FILE ... [--write]

Files are `*.conllu` of Universal Dependencies; traditional characters are simplified. The words are
the segmenter's, with its dictionary's tags, as when the rules read a text. In each stretch between
commas the predicate is the word that depends on none in the stretch (its copula, if it has one).
The shipped weights were learned from Chinese GSD of 2016 (train), GSDSimp (dev; CC BY-SA 4.0) and
four of five trees of PUD (CC BY-SA 3.0), and tested on GSDSimp (test) and the rest of PUD.
`--write` puts the weights into tasks/extract/rules/chinese/predicates.json.
"""

import argparse
import json
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import numpy as np
from scipy.sparse import csr_matrix
from sklearn.linear_model import LogisticRegression

from recipes.command import parser_of, run_command
from tasks.extract.rules.chinese.predicates import WEIGHTS, clauses, features, may_lead
from tasks.extract.rules.chinese.tokens import Token, read_sentences
from tasks.text.chinese_words import simplified

LEAST = 4  # occurrences of a feature
SMALLEST = 0.02  # of a weight that is kept
FREE = frozenset(["punct", "mark", "case", "cc", "advmod", "discourse", "aux"])
DESCRIBING = frozenset(["acl", "nmod", "compound", "amod"])

Node = tuple[str, str, str, int]  # word, part of speech, relation, number of its head


def trees(path: Path) -> Iterator[list[Node]]:
    """Yield the trees of a file."""
    tree: list[Node] = []
    for line in [*path.read_text("utf-8").splitlines(), ""]:
        columns = line.split("\t")
        if columns[0].isdigit():
            relation = columns[7].partition(":")[0]
            tree.append((simplified(columns[1]), columns[3], relation, int(columns[6])))
        elif not line and tree:
            yield tree
            tree = []


def examples(path: Path, *, part: int = 0) -> Iterator[tuple[list[Token], int, int, int | None]]:
    """Yield the clauses of a file: tokens, start, end, and the place of the predicate, if any.

    `part`: 1 for all trees but every fifth, 2 for every fifth, 0 for all.
    """
    for number, tree in enumerate(trees(path)):
        if part and (number % 5 == 0) != (part == 2):
            continue
        text, spans = "", list[tuple[int, int]]()
        for word, *_ in tree:
            word = "，" if word == "," else word
            apart = text[-1:].isascii() and text[-1:].isalnum() and word[0].isascii()
            text += " " if apart and word[0].isalnum() else ""
            spans.append((len(text), len(text) + len(word)))
            text += word
        for sentence in read_sentences(text, []):
            for start, end in clauses(sentence.tokens):
                span = sentence.tokens[start].start, sentence.tokens[end - 1].end
                found = _predicate(tree, spans, span)
                if found is not None:
                    place = _token_at(sentence.tokens, start, end, found)
                    yield sentence.tokens, start, end, place


def _predicate(
    tree: list[Node], spans: list[tuple[int, int]], clause: tuple[int, int]
) -> tuple[int, int] | None:
    """Where the predicate of a clause stands, (0, 0) if it is none; None if that is not clear."""
    inside = [i for i, (start, end) in enumerate(spans) if start >= clause[0] and end <= clause[1]]
    tops = [i for i in inside if tree[i][3] - 1 not in inside and tree[i][2] not in FREE]
    if len(tops) != 1:
        return None
    _, speech, relation, _ = tree[tops[0]]
    copulas = [i for i in inside if tree[i][3] - 1 == tops[0] and tree[i][2] == "cop"]
    if copulas:
        return spans[copulas[0]]
    acts = speech in ("VERB", "ADJ") and relation not in DESCRIBING
    return spans[tops[0]] if acts else (0, 0)


def _token_at(tokens: list[Token], start: int, end: int, span: tuple[int, int]) -> int | None:
    """The last token of a clause that is (part of) a word, or that the word ends."""
    for position in reversed(range(start, end)):
        token = tokens[position]
        overlaps = token.start < span[1] and token.end > span[0]
        if overlaps and (token.start >= span[0] or token.end >= span[1]):
            return position
    return None


def measure(arguments: argparse.Namespace) -> dict[str, float]:
    """Train the model and measure it on the clauses that have a predicate."""
    trained = _rows(arguments.train, 1)
    tested = _rows(arguments.test, 2)
    counts = Counter(name for _, _, names in trained for name in names)
    column = {name: i for i, name in enumerate(sorted(n for n in counts if counts[n] >= LEAST))}
    model = LogisticRegression(C=0.4, l1_ratio=1, solver="liblinear", max_iter=60)
    model.fit(_matrix(trained, column), np.array([right for _, right, _ in trained]))
    likely = model.predict_proba(_matrix(tested, column))[:, 1]
    best: dict[int, tuple[float, bool]] = {}
    for (clause, right, _), probability in zip(tested, likely, strict=True):
        best[clause] = max(best.get(clause, (0.0, False)), (float(probability), right))
    with_one = {clause for clause, right, _ in tested if right}
    sure = [right for probability, right in best.values() if probability >= 0.5]
    if arguments.write:
        weights = {n: round(float(model.coef_[0][i]), 2) for n, i in column.items()}
        weights = {name: w for name, w in weights.items() if abs(w) > SMALLEST}
        weights[""] = round(float(model.intercept_[0]), 3)
        text = json.dumps(weights, ensure_ascii=False, sort_keys=True, separators=(",", ":"))
        WEIGHTS.write_text(text + "\n", "utf-8")
    return {
        "clauses": len(with_one),
        "predicate found": round(sum(best[clause][1] for clause in with_one) / len(with_one), 3),
        "sure": round(len(sure) / len(best), 3),
        "right where sure": round(sum(sure) / len(sure), 3),
    }


def _rows(paths: list[Path], part: int) -> list[tuple[int, bool, set[str]]]:
    """Return each word that may be a predicate: number of its clause, whether it is, features."""
    rows, clause = [], 0
    for path in paths:
        for tokens, start, end, predicate in examples(path, part=part if "pud" in path.name else 0):
            clause += 1
            for position in range(start, end):
                if may_lead(tokens[position]):
                    names = {*features(tokens, position, start, end)}
                    rows.append((clause, position == predicate, names))
    return rows


def _matrix(rows: list[tuple[int, bool, set[str]]], column: dict[str, int]) -> csr_matrix:
    places = [(i, column[n]) for i, (_, _, names) in enumerate(rows) for n in names if n in column]
    lines, columns = zip(*places, strict=True)
    shape = (len(rows), len(column))
    return csr_matrix((np.ones(len(places)), (lines, columns)), shape=shape)


def main() -> None:
    """Train, measure, and write the weights if asked to."""
    parser = parser_of(__doc__)
    parser.add_argument("--train", type=Path, nargs="+", required=True)
    parser.add_argument("--test", type=Path, nargs="+", required=True)
    parser.add_argument("--write", action="store_true")
    print(json.dumps(measure(parser.parse_args()), indent=1))


if __name__ == "__main__":
    run_command(main)
