"""The confidence of a fact: a logistic regression over what the rules observed.

The weights in `confidence.json` are fitted to judged triples by `recipes/judged_facts.py`. A
feature is 0 or 1, a count, a share or a logarithm, so that a reader can see the evidence for and
against a fact. The states of the parser's encoder at a few tokens are weighted as well
(`state_weights.safetensors`).
"""

import json
import math
import re
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np

from tasks.extract.extracted import STATED
from tasks.extract.rules.clauses import FINITE, SUBJECTS, Clause
from tasks.extract.rules.lexicon import PASSING, TEXTS
from tasks.extract.rules.noun_phrases import Called
from tasks.extract.rules.passage import ParsedPassage
from tasks.extract.rules.tree import Tree
from tasks.text.function_words import FIRST_PERSON, SECOND_PERSON
from tasks.text.languages import word_set

CONTENT = ("NOUN", "PROPN", "VERB", "ADJ", "NUM", "ADV")
SUPPOSED = word_set("if whether unless suppose imagine should would could might may")
COMMON_WORDS = Path(__file__).with_name("common_words.txt")
WEIGHTS = Path(__file__).with_name("confidence.json")
STATE_WEIGHTS = Path(__file__).with_name("state_weights.safetensors")
STATES = (10, 96)  # tokens of a triple, and the width of the encoder's states
NOTE_PRECISION = Path(__file__).with_name("note_precision.json")
STATEMENT_WEIGHTS = Path(__file__).with_name("statement_confidence.json")


def features(
    tree: Tree, clause: Clause, rule: str, relation: int, arguments: list[list[int]]
) -> dict[str, float]:
    """Return the features of a fact.

    `relation` is its relation's length in words, `arguments` are its arguments' tokens.
    """
    subject, predicate = clause.subject, clause.predicate
    first, *others = arguments
    verb = clause.verb[0] if clause.verb else predicate
    tokens = [token for argument in arguments for token in argument]
    mark = _mark(tree, predicate)
    return {
        f"rule {rule}": 1.0,
        f"rule {rule} {clause.subject_from}": 1.0,
        f"found {clause.subject_from} {mark}": 1.0,
        f"mark {mark}": 1.0,
        f"predicate label {tree.dep[predicate]}": 1.0,
        f"predicate tag {tree.tag[predicate]}": 1.0,
        f"subject word {tree.pos[subject]}": 1.0,
        f"subject label {tree.dep[subject]}": 1.0,
        f"subject opens with {tree.pos[first[0]]}": 1.0,
        "passive": float(clause.passive),
        "negated": float(clause.negated),
        "subject has a verb": float(any(tree.pos[t] == "VERB" for t in first)),
        "subject has a relative": float(any(tree.tag[t] in ("WDT", "WP") for t in first)),
        "subject before verb": float(first[-1] < verb),
        "no object": float(not others[0]),
        "arguments": float(min(4, len(arguments))),
        "subject length": math.log1p(len(first)),
        "object length": math.log1p(len(others[0])),
        "other length": math.log1p(sum(map(len, others[1:]))),
        "relation length": math.log1p(relation),
        "gap to subject": math.log1p(abs(verb - first[-1])),
        "width": math.log1p(max(tokens) - min(tokens)),
        "depth": math.log1p(min(12, tree.depth(predicate))),
    }


def sentence_features(passage: ParsedPassage, clause: Clause) -> dict[str, float]:
    """Return the features of a clause's sentence."""
    tree = passage.tree
    first, last = passage.sentence_of(clause.predicate)
    # A resolved "we" is as good as a name.
    words = {tree.lower[t] for t in range(first, last) if t not in passage.referents}
    verb = tree.lemma[clause.predicate]
    return {
        f"verb {verb}": 1.0,
        **{f"modal {tree.lower[token]}": 1.0 for token in clause.verb if tree.tag[token] == "MD"},
        "verb is finite": float(
            any(tree.tag[t] in FINITE for t in (*clause.verb, clause.predicate))
        ),
        "sentence asks": float("?" in words),
        "sentence supposes": float(not words.isdisjoint(SUPPOSED)),
        "sentence has a first person": float(not words.isdisjoint(FIRST_PERSON)),
        "sentence has a second person": float(not words.isdisjoint(SECOND_PERSON)),
        "sentence has no end": float(tree.words[last - 1] not in (".", "!", "?", "”", '"', ")")),
        "sentence length": math.log1p(last - first),
    }


def antecedent_features(passage: ParsedPassage, end: Called) -> dict[str, float]:
    """Return features of a resolved word: its distance to its antecedent, and rival names."""
    referring = [token for token in end.tokens if token in passage.referents]
    if not referring:
        return {}
    tree, token = passage.tree, referring[0]
    meant = passage.referents[token]
    before = [name for name in passage.names if name.first < token]
    last = max((name.first for name in before if name.name == meant), default=-1)
    back = sum(last < start <= token for start, _ in tree.sentences)
    others = {name.name for name in before if name.first > last} - {meant}
    verbs = [tree.head[t] for t in range(token) if tree.dep[t] in SUBJECTS]
    main = [v for v in verbs if tree.dep[v] == "ROOT" and v < token]
    subject = tree.child(main[-1], *SUBJECTS) if main else None
    place = -1 if subject is None else subject
    name = passage.entities.get(place)
    subject_name = name.name if name else passage.referents.get(place, "")
    return {
        "antecedent is the last subject": float(subject_name == meant),
        "last subject has no name": float(subject is not None and not subject_name),
        "pronoun is a subject": float(tree.dep[token] in SUBJECTS),
        f"antecedent {min(back, 3) if last >= 0 else 'not named'} sentences back": 1.0,
        f"antecedent is a {passage.kind(meant)}": 1.0,
        "names since the antecedent": math.log1p(len(others)),
    }


def left_out(passage: ParsedPassage, clause: Clause, tokens: list[int]) -> dict[str, float]:
    """Return features of what a fact omits from its sentence and clause.

    `tokens` are those of the fact.
    """
    tree = passage.tree
    stated = set(tokens)
    first, last = passage.sentence_of(clause.predicate)
    sentence = [t for t in range(first, last) if tree.pos[t] in CONTENT]
    around = [t for t in tree.subtree(clause.predicate) if tree.pos[t] in CONTENT]
    dropped = [c for c in clause.complements if stated.isdisjoint(tree.subtree(c.head))]
    ends = [c for t in tokens for c in tree.children[t] if c not in stated]
    return {
        "share of the sentence": sum(t in stated for t in sentence) / max(len(sentence), 1),
        "share of the clause": sum(t in stated for t in around) / max(len(around), 1),
        "content left in the sentence": math.log1p(sum(t not in stated for t in sentence)),
        "content left in the clause": math.log1p(sum(t not in stated for t in around)),
        **{f"leaves out {c.role}": 1.0 for c in dropped},
        **{f"leaves off {tree.dep[c]}": 1.0 for c in ends if tree.pos[c] != "PUNCT"},
    }


def general_features(tree: Tree, clause: Clause) -> dict[str, float]:
    """Return features of exceptions that a generic statement may have."""
    subject, verb = clause.subject, clause.predicate
    fronted = any(tree.dep[c] in ("obl", "advcl") and c < subject for c in tree.children[verb])
    return {
        "head is general": 1.0,
        "general, plural": float(tree.tag[subject] == "NNS"),
        "general, with the": float(any(tree.lower[c] == "the" for c in tree.children[subject])),
        "general, modal": float(any(tree.tag[token] == "MD" for token in clause.verb)),
        "general, coordinated": float("conj" in {tree.dep[c] for c in tree.children[subject]}),
        "general, behind a phrase": float(fronted),
        "general, with a clause": float(any(tree.dep[c] == "advcl" for c in tree.children[verb])),
        "general, subordinate": float(tree.dep[verb] not in ("ROOT", "conj")),
    }


def end_features(passage: ParsedPassage, side: str, end: Called) -> dict[str, float]:
    """Return the features of a triple's head or tail, called `side`."""
    tree = passage.tree
    tags = {tree.tag[token] for token in end.tokens}
    first = end.tokens[0] if end.tokens else 0
    opens = passage.sentence_of(first)[0] == first
    times = passage.tree.text.count(end.name)
    owned = first > 0 and tree.tag[first - 1] in ("PRP$", "DT") and tree.lower[first - 1] != "a"
    return {
        f"{side} is {'a ' + end.kind if end.named else 'no name'}": 1.0,
        f"{side} tag {tree.tag[end.tokens[-1]] if end.tokens else ''}": 1.0,
        f"{side} is the subject": float(bool(passage.title) and end.name == passage.title),
        f"{side} was resolved": float(end.resolved),
        f"{side} is a word that opens the sentence": float(opens and len(end.tokens) == 1),
        f"{side} words": math.log1p(len(end.name.split())),
        f"{side} is lower case": float(end.name.islower()),
        f"{side} is upper case": float(end.name.isupper()),
        f"{side} has a digit": float(any(map(str.isdigit, end.name))),
        f"{side} has a pronoun": float(not tags.isdisjoint(("PRP", "PRP$", "WP", "WDT"))),
        f"{side} has an adjective": float(not tags.isdisjoint(("JJ", "JJR", "JJS"))),
        f"{side} has a verb": float(any(tag.startswith("VB") for tag in tags)),
        f"{side} stands after a determiner": float(owned),
        f"{side} is a noun alone after the": float(
            not end.named and len(end.tokens) == 1 and first > 0 and tree.lower[first - 1] == "the"
        ),
        f"{side} stands elsewhere": math.log1p(max(times - 1, 0)),
    }


def context_features(
    passage: ParsedPassage, clause: Clause, head: Called, tail: Called
) -> dict[str, float]:
    """Return features of how much a triple depends on its context to be understood."""
    tree, row = passage.tree, passage.row
    first, last = passage.sentence_of(clause.predicate)
    words = tree.lower[first:last]
    values = {
        "passing words": float(sum(word in PASSING for word in words)),
        "title has a digit": float(any(map(str.isdigit, row["title"]))),
        "stands under a heading": float(bool(row.get("headings"))),
        "sentence has a colon": float(":" in words),
    }
    for side, end in (("head", head), ("tail", tail)):
        top = [t for t in end.tokens if tree.head[t] not in end.tokens]
        values[f"{side} passes"] = float(any(tree.lower[t] in PASSING for t in end.tokens))
        values[f"{side} is a text"] = float(any(tree.lemma[t].lower() in TEXTS for t in top))
    return values


def end_states(tree: Tree, clause: Clause, head: list[int], tail: list[int]) -> np.ndarray:
    """Return the encoder's states at head, tail, predicate and subject, STATES float32.

    For head and tail these are the states of the token before, the first, the last and the token
    after, which show where a phrase is cut off. The rows of missing tokens are zero, and all rows
    if the tree has no states.
    """
    rows = np.zeros(STATES, np.float32)
    places = [*_around(head), *_around(tail), clause.predicate, clause.subject]
    for row, token in enumerate(places):
        if 0 <= token < len(tree.states):
            rows[row] = tree.states[token]
    return rows


def _around(end: list[int]) -> list[int]:
    return [end[0] - 1, end[0], end[-1], end[-1] + 1] if end else [-1] * 4


def centred(states: np.ndarray, mean: np.ndarray) -> np.ndarray:
    """Return states minus their mean; the zero rows of missing tokens stay zero."""
    return np.where(states.any(-1, keepdims=True), states - mean, 0)


@lru_cache(maxsize=1)
def _state_weights() -> dict[str, np.ndarray]:
    from safetensors.numpy import load_file

    return load_file(str(STATE_WEIGHTS))


@lru_cache(maxsize=1)
def _ranks() -> dict[str, float]:
    words = COMMON_WORDS.read_text(encoding="utf-8").split()
    return {word: math.log1p(place) for place, word in enumerate(words)}


def rarities(text: str) -> list[float]:
    """Return how rare each word of a text is: the logarithm of its rank among common words."""
    ranks = _ranks()
    rarest = math.log1p(len(ranks))
    return [ranks.get(word, rarest) for word in re.findall(r"[^\W_]+", text.lower())] or [0.0]


def is_common(word: str) -> bool:
    """Return whether a word is among the common words, ignoring case."""
    return word.lower() in _ranks()


def word_features(head: str, relation: str, tail: str) -> dict[str, float]:
    """Return how rare the words of a triple are: common words alone identify nothing."""
    values: dict[str, float] = {}
    for part, text in (("head", head), ("relation", relation), ("tail", tail)):
        rare = rarities(text)
        values[f"{part}'s rarest word"] = max(rare) - 6.0
        values[f"{part}'s words, mean"] = sum(rare) / len(rare) - 6.0
    return values


def _mark(tree: Tree, predicate: int) -> str:
    mark = tree.child(predicate, "mark", "case")
    if mark is None:
        return "none"
    return tree.lower[mark] if tree.lower[mark] in ("to", "that") else "other"


@lru_cache(maxsize=5)
def _fitted(path: Path) -> dict[str, Any]:
    return json.loads(path.read_text(encoding="utf-8"))


def precision(kind: str, rule: str) -> float:
    """Return the share of a rule's judged descriptions, notes or aliases that were useful.

    Features of names and texts did not separate good from bad ones (`recipes/judged_notes.py`).
    """
    shares = _fitted(NOTE_PRECISION)["precision"][kind]
    return shares.get(rule, shares["any"])


def probability(
    values: dict[str, float], fitted: Path = WEIGHTS, states: np.ndarray | None = None
) -> float:
    """Return the probability that a fact with these features is right, to three decimals.

    It is never `STATED`, by which facts of tables and labels are known. `states` are given for
    triples only, by `end_states`.
    """
    weights = _fitted(fitted)["weights"]
    total = weights["constant"]
    for name, value in values.items():
        total += weights.get(name, 0.0) * value
    if states is not None:
        shipped = _state_weights()
        total += float(np.vdot(centred(states, shipped["mean"]), shipped["weights"]))
    found = round(1.0 / (1.0 + math.exp(-max(-30.0, min(30.0, total)))), 3)
    return found if found != STATED else STATED - 0.001
