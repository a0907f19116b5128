"""The confidence of English triples: what it is made of, and how its weights are fitted."""

import json
import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from recipes import judged_facts
from tasks.extract.english_pipeline.load import load_english
from tasks.extract.extracted import STATED
from tasks.extract.rules import tree as trees
from tasks.extract.rules.clauses import find_clauses
from tasks.extract.rules.confidence import STATES, WEIGHTS, centred, probability
from tasks.extract.rules.english import find_triples, understand
from tasks.extract.rules.tree import Reduced, parse, tree_of
from tasks.extract.rules.triple import triple_features, triple_row, triple_states

TEXT = "Lyon has two rivers."


def read(text: str) -> list[tuple[float, dict[str, float], np.ndarray]]:
    reduced = Reduced(text)
    tree = tree_of(next(parse(load_english(), [reduced.text])), reduced)
    row: dict[str, Any] = {"text": text, "title": "", "subject": "", "headings": ""}
    passage = understand(row, tree)
    return [
        (
            triple_row(passage, triple)["confidence"],
            triple_features(passage, triple),
            triple_states(passage, triple),
        )
        for triple in find_triples(passage, find_clauses(tree))
    ]


def test_a_triple_is_weighed_by_its_features_and_by_the_states_of_its_words() -> None:
    triples = read(TEXT)
    assert triples
    for confidence, features, states in triples:
        assert states.shape == STATES
        assert confidence == probability(features, states=states)
        assert confidence != probability(features)


def test_no_sentence_has_the_confidence_by_which_tables_are_known(tmp_path: Path) -> None:
    fitted = tmp_path / "weights.json"
    fitted.write_text(json.dumps({"weights": {"constant": math.log(STATED / (1 - STATED))}}))
    assert probability({}, fitted) == STATED - 0.001


def test_the_word_before_a_text_has_no_state() -> None:
    for _, _, states in read(TEXT):
        assert not states[0].any()
        assert states[1].any()


def test_another_pipeline_weighs_by_features_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(trees, "SHIPPED_MODEL", None)
    triples = read(TEXT)
    assert triples
    for confidence, features, states in triples:
        assert not states.any()
        assert confidence == probability(features)


def test_what_is_not_there_stays_zero_when_states_are_centred() -> None:
    states = np.array([[0.0, 0.0], [3.0, 5.0]])
    assert centred(states, np.array([1.0, 2.0])).tolist() == [[0.0, 0.0], [2.0, 3.0]]


def test_the_weights_are_those_of_the_shipped_encoder() -> None:
    """Another encoder's states mean something else; then judged_facts has to be run again."""
    fitted = json.loads(WEIGHTS.read_text(encoding="utf-8"))
    assert fitted["states of"] == judged_facts.encoder_hash()


def test_states_have_columns_after_the_features() -> None:
    states = np.zeros((2, *STATES), np.float32)
    states[0, 3], states[1, 3] = 1.0, 3.0
    samples = [judged_facts.Sample("a", "useful", {"f": 1.0}, row) for row in states]
    names, x, mean = judged_facts.columns_of(samples, rare=15)
    assert (names, x.shape) == (["constant"], (2, 1 + STATES[0] * STATES[1]))
    assert mean.tolist() == [2.0] * STATES[1]
    assert x[:, 1:].sum(1).tolist() == pytest.approx(
        [-judged_facts.STATE_SCALE * STATES[1], judged_facts.STATE_SCALE * STATES[1]]
    )


def test_the_least_confidence_of_a_corpus_is_chosen_by_the_others() -> None:
    p = np.array([0.4, 0.9, 0.9, 0.4, 0.4, 0.4])
    useful = np.array([1.0, 1.0, 1.0, 0.0, 0.0, 0.0])
    corpora = np.array(["a", "a", "b", "b", "c", "c"])
    assert judged_facts.least_for(p, useful) == 0.45
    passing = judged_facts.chosen_elsewhere(p, useful, corpora)
    assert passing.tolist() == [False, True, True, False, False, False]
