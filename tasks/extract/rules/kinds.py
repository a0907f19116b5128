"""Kinds of entities: stated by class nouns, shown by the form of a name, else guessed by weights.

A passage states kinds in definitions ("X is a river"), appositions and "the probe X". Where it
states none, trained weights give each mention a score for each kind. Features of English mentions
are the spelling of the name, its words, the words that govern it, and the states of the parser's
encoder at the name and next to it; features of Chinese mentions are the characters and the words
around them (`chinese/naming.py`). The scores of all mentions of a name are pooled later, as single
mentions are weak evidence. `python -m recipes.guessed_kinds` and `python -m recipes.chinese_kinds`
train the weights.
"""

import json
import re
from functools import lru_cache
from pathlib import Path

import numpy as np

from schemas.ontology import KINDS, Ontology
from tasks.extract.rules.clauses import SUBJECTS
from tasks.extract.rules.confidence import centred, rarities
from tasks.extract.rules.lexicon import HANDLING, KIND_OF_NOUN, LINKS
from tasks.extract.rules.passage import NameSpan, ParsedPassage
from tasks.extract.rules.tree import Tree
from tasks.text.english_words import is_word
from tasks.text.languages import word_set

KIND_OF_LABEL = {
    "PERSON": "person", "LOC": "place", "GPE": "place", "FAC": "place", "ORG": "organisation",
    "NORP": "unknown", "WORK_OF_ART": "work", "EVENT": "event", "PRODUCT": "thing",
    "MISC": "unknown",
}  # fmt: skip

_PERSON_ENDINGS = ("ist", "ician", "grapher", "logist", "woman", "sman", "wright")


def kind_of_noun(noun: str) -> str:
    """Return the kind of the things that a singular noun denotes, `unknown` if it is not known."""
    known = KIND_OF_NOUN.get(noun)
    if known:
        return known
    return "person" if len(noun) > 6 and noun.endswith(_PERSON_ENDINGS) else "unknown"


def with_parents(ontology: Ontology) -> Ontology:
    """Return an ontology in which kinds without a parent are below the kind that their noun tells.

    "The film X" states that X is a work, which excludes X from a kind `film` below nothing.
    """
    kinds = dict(ontology.kinds)
    for name, kind in ontology.kinds.items():
        nouns = (noun.split()[-1].lower() for noun in (name, *kind.synonyms) if noun.split())
        parent = next((of for noun in nouns if (of := kind_of_noun(noun)) != "unknown"), None)
        if kind.parent is None and name not in KINDS and parent not in ontology.kinds:
            kinds[name] = kind.model_copy(update={"parent": parent})
    return ontology.model_copy(update={"kinds": kinds})


FELLOWS = word_set("companion twin sister successor predecessor replacement")


def learn_kinds(passage: ParsedPassage) -> None:
    """Learn the kinds of names from definitions, appositions, class nouns and their form."""
    stated_kinds: dict[str, str] = {}
    for name in passage.names:
        kind = _kind_stated(passage, name)
        if kind != "unknown":
            stated_kinds.setdefault(name.name, kind)
    for name in passage.names:
        kind = _kind_of_form(passage.tree, name)
        if kind != "unknown":
            stated_kinds.setdefault(name.name, kind)
        elif name.kind == "person" and not _may_be_person(passage.tree, name):
            name.kind = passage.kinds[name.name] = "unknown"
    passage.stated_kinds.update(stated_kinds)
    passage.kinds.update(stated_kinds)


def _kind_of_form(tree: Tree, name: NameSpan) -> str:
    """Return the kind that a name of several words shows by itself, else `unknown`.

    The head noun of the name ("Ferry Building", "Office of Acquisition") is the best evidence. A
    recognised person nearly always is one if the last word, the surname, is in no dictionary, or
    if an initial stands before it.
    """
    words = tree.lower[name.first : name.last]
    end = next((at for at, word in enumerate(words) if at and word in ("of", "for")), len(words))
    kind = kind_of_noun(words[end - 1]) if len(words) > 1 else "unknown"
    titled = all(tree.words[t].istitle() for t in range(name.first, name.last))
    initial = any(_INITIAL.fullmatch(word) for word in tree.words[name.first + 1 : name.last - 1])
    if name.kind == "person" and (
        initial or (titled and len(words) > 1 and not is_word(words[-1]))
    ):
        return "person"
    return "unknown" if "person" in (kind, name.kind) else kind


def _may_be_person(tree: Tree, name: NameSpan) -> bool:
    """Return whether a name may be a person's.

    It has no lower-case dictionary word, and acronyms only if all its words are.
    """
    words = tree.words[name.first : name.last]
    acronyms = [word for word in words if len(word) > 2 and word.isalpha() and word.isupper()]
    return not any(word.islower() and is_word(word) and word not in LINKS for word in words) and (
        not acronyms or len(acronyms) == len(words)
    )


def _kind_stated(passage: ParsedPassage, name: NameSpan) -> str:
    tree = passage.tree
    for token in range(name.first, name.last):
        for noun in class_nouns(tree, token):
            kind = kind_of_noun(tree.lemma[noun].lower())
            if kind != "unknown" and noun not in passage.entities:
                return kind
        if tree.dep[token] == "obj" and tree.lemma[tree.head[token]] in HANDLING:
            return "thing"
    noun_before = class_noun_before(passage, name)
    return "unknown" if noun_before is None else kind_of_noun(tree.lower[noun_before])


def class_nouns(tree: Tree, token: int) -> list[int]:
    """Return the nouns that state a token's class: "X is a river", "X, a river".

    "X is in the river" states no class.
    """
    nouns = [c for c in tree.children[token] if tree.dep[c] == "appos" and c > token]
    head = tree.head[token]
    is_class = tree.child(head, "cop") is not None and tree.child(head, "case") is None
    return [head, *nouns] if tree.dep[token] in SUBJECTS and is_class else nouns


def class_noun_before(passage: ParsedPassage, name: NameSpan) -> int | None:
    """Return the class noun right before a name: "the river X"."""
    tree, noun = passage.tree, name.first - 1
    if noun < 0 or noun in passage.entities or not tree.words[noun].islower():
        return None
    if tree.pos[noun] not in ("NOUN", "PROPN"):
        return None  # a single Prometheus
    own = range(name.first, name.last)
    if tree.head[noun] not in own and all(tree.head[token] != noun for token in own):
        return None  # After the war Turing left.
    return noun


GUESSED = ("person", "place", "organisation", "work", "event", "thing")
"""The kinds in the order of their scores."""

WEIGHTS = Path(__file__).with_name("kind_weights.safetensors")
STATES = (6, 96)
_INITIAL = re.compile(r"[A-Z]\.")
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
