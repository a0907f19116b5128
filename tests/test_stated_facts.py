"""How stated facts are measured: pairs of Re-DocRED, extractions of WiRe57."""

from collections import Counter
from typing import Any

from tests.stated_facts import Parts, match, pairs_of, score, stated, text_of, words


def parts(subject: str, relation: str, first: str, further: str = "") -> Parts:
    return words(subject), words(relation), words(first), words(further)


def test_tokens_become_running_text():
    tokens = [['"', "Ann", '"', "Lee", "(", "born", "1950", ")", "'s", "ship", "."]]
    assert text_of(tokens) == '"Ann" Lee (born 1950)\'s ship.'


def test_a_pair_is_stated_by_either_direction_and_by_any_of_its_names():
    document: dict[str, Any] = {
        "vertexSet": [
            [{"name": "Ann Lee"}, {"name": "Lee"}],
            [{"name": "Oslo"}],
            [{"name": "Rome"}],
        ],
        "labels": [{"h": 0, "t": 1}, {"h": 1, "t": 0}, {"h": 0, "t": 2}],
    }
    assert pairs_of(document) == {frozenset((0, 1)), frozenset((0, 2))}
    triples = [{"head": "Oslo", "tail": "lee"}, {"head": "Rome", "tail": "Paris"}]
    assert stated(document, triples) == {frozenset((0, 1))}


def test_an_extraction_needs_a_word_of_each_part():
    gold = parts("Ann Lee", "was born in", "Oslo")
    assert match(gold, parts("Ann Lee", "was born in", "Oslo")) == (1.0, 1.0)
    assert match(gold, parts("Ann Lee", "died", "Oslo")) == (0.0, 0.0)
    assert match(gold, parts("Ann", "born in", "Oslo")) == (1.0, 4 / 6)
    inferred = words("Ann"), Counter[str](), words("a chemist"), words("")
    assert match(inferred, parts("Ann", "is", "a chemist")) == (3 / 4, 1.0)


def test_a_tuple_is_matched_once():
    gold = {"1": [parts("Ann", "met", "Bob")]}
    twice = {"1": [parts("Ann", "met", "Bob"), parts("Ann", "met", "Bob")]}
    assert score(gold, twice) == {"precision": 0.5, "recall": 1.0, "f1": 0.667}
