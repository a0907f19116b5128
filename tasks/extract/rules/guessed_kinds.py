"""The kind of a name, predicted by trained weights where the text does not state it.

A mention gets a score for each kind. Features of English mentions are the spelling of the name, its
words, the words that govern it, and the states of the parser's encoder at the name and next to it;
features of Chinese mentions are the characters and the words around them
(`chinese/kind_features.py`). The scores of all mentions of a name are pooled later, as single
mentions are weak evidence. `python -m recipes.guessed_kinds` and `python -m
recipes.chinese_kinds` train the weights.
"""

import json
import re
from functools import lru_cache
from pathlib import Path

import numpy as np

from tasks.extract.rules.confidence import centred, rarities
from tasks.extract.rules.passage import NameSpan
from tasks.extract.rules.tree import Tree
from tasks.text.english_words import is_word

GUESSED = ("person", "place", "organisation", "work", "event", "thing")
"""The kinds in the order of their scores."""

WEIGHTS = Path(__file__).with_name("kind_weights.safetensors")
STATES = (6, 96)
_INNER_CAPITAL = re.compile(r"[a-z][A-Z]")
_SIGN = re.compile(r"[^\w\s]")
_RAREST = 6.0  # near the middle of the logarithms of ranks, to centre the features


def mention_features(tree: Tree, name: NameSpan) -> dict[str, float]:
    """Return the features of a mention: the spelling of the name, its words and its governors."""
    own = range(name.first, name.last)
    words = tree.words[name.first : name.last]
    head = head_of_name(tree, name)
    governor = tree.head[head]
    cases = [tree.lower[c] for c in tree.children[head] if tree.dep[c] == "case"]
    before = tree.lower[name.first - 1] if name.first else ""
    after = tree.lower[name.last] if name.last < len(tree.words) else ""
    first, last = words[0], words[-1]
    middle = [word for word in tree.lower[name.first + 1 : name.last - 1]]
    labels = {label for a, b, label in tree.names if a < name.last and name.first < b}
    rare = rarities(name.name)
    values = {
        f"{min(len(words), 5)} words": 1.0,
        f"tag {tree.tag[head]}": 1.0,
        f"relation {tree.dep[head]}": 1.0,
        f"governed as {tree.dep[head]} by {tree.lemma[governor].lower()}": float(governor != head),
        f"last word {last.lower()}": 1.0,
        f"ends in {last.lower()[-3:]}": 1.0,
        f"ends in {last.lower()[-2:]}": 1.0,
        f"first word {first.lower()}": float(len(words) > 1),
        f"word before {before}": 1.0,
        f"word after {after}": 1.0,
        "no upper case at the start": float(not name.name[0].isupper()),
        "last word is plain": float(is_word(last.lower())),
        "last word is plain, of several": float(len(words) > 1 and is_word(last.lower())),
        "no word is plain": float(not any(is_word(word.lower()) for word in words)),
        "rarest word": max(rare) - _RAREST,
        "most common word": min(rare) - _RAREST,
        "of": float("of" in middle),
        "and": float("and" in middle),
        "governed by a name": float(
            governor not in own and tree.pos[governor] == "PROPN" and governor != head
        ),
    }
    values |= writing(name.name)
    values |= {f"recognised as {label}": 1.0 for label in labels or {"nothing"}}
    values |= {f"after the preposition {case}": 1.0 for case in cases}
    return {feature: value for feature, value in values.items() if value}


def head_of_name(tree: Tree, name: NameSpan) -> int:
    """Return the head token of a name, whose governor is outside the name."""
    own = range(name.first, name.last)
    heads = [t for t in own if tree.head[t] not in own or tree.head[t] == t]
    return heads[-1] if heads else name.last - 1


def mention_states(tree: Tree, name: NameSpan) -> np.ndarray:
    """Return the encoder's states around a name, STATES float32.

    The rows are the token before the name, its first and last token, the token after it, the token
    that governs it, and the mean over the name. Without states of the shipped parser all are zero.
    """
    rows = np.zeros(STATES, np.float32)
    if not len(tree.states):
        return rows
    head = head_of_name(tree, name)
    governor = tree.head[head] if tree.head[head] != head else -1
    for row, token in enumerate((name.first - 1, name.first, name.last - 1, name.last, governor)):
        if 0 <= token < len(tree.states):
            rows[row] = tree.states[token]
    rows[5] = tree.states[name.first : name.last].mean(0)
    return rows


def scores_in_tree(tree: Tree, name: NameSpan) -> list[float] | None:
    """Return the kind scores of one English mention.

    None if the tree has no states, because its pipeline is not the one that the weights are for.
    """
    if not len(tree.states):
        return None
    return kind_scores(mention_features(tree, name), WEIGHTS, mention_states(tree, name))


def kind_scores(
    features: dict[str, float], path: Path, states: np.ndarray | None = None
) -> list[float]:
    """Return the logarithms of the probabilities of the `GUESSED` kinds for one mention.

    `path` is the file of weights; `states` are float32 STATES if the weights include states.
    """
    shipped, places = _weights(path)
    known = [(places[f], v) for f, v in features.items() if f in places]
    rows, values = [row for row, _ in known], np.array([value for _, value in known], np.float32)
    total = shipped["constant"] + values @ shipped["features"][rows]
    if states is not None:
        total += centred(states, shipped["mean"]).ravel() @ shipped["states"]
    total -= total.max()
    total -= np.log(np.exp(total).sum())
    return [round(float(score), 2) for score in total]


def writing(name: str) -> dict[str, float]:
    """Return features of the capitals, digits and punctuation of a name."""
    return {
        "upper case": float(name.isupper()),
        "upper case, long": float(name.isupper() and len(name) > 4),
        "capitals within a word": float(bool(_INNER_CAPITAL.search(name))),
        "a digit": float(any(map(str.isdigit, name))),
        "a sign": float(bool(_SIGN.search(name))),
    }


@lru_cache(maxsize=2)
def _weights(path: Path) -> tuple[dict[str, np.ndarray], dict[str, int]]:
    """Return the weights by part, and the row of each named feature.

    `features` is (names, kinds), `states` (all of STATES, kinds), `constant` (kinds,) and `mean`
    the mean state; the Chinese weights have no states.
    """
    from safetensors import safe_open

    with safe_open(str(path), "np") as file:
        weights = {part: file.get_tensor(part).astype(np.float32) for part in file.keys()}  # noqa: SIM118
        names = json.loads(file.metadata()["features"])
    return weights, {name: row for row, name in enumerate(names)}
