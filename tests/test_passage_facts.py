"""Labelled facts stand in their passages, and training teaches to find them."""

from itertools import islice
from pathlib import Path

import pytest
import torch

from recipes.passage_facts.finder import found_facts
from recipes.passage_facts.labels import labelled_passages
from recipes.passage_facts.network import fact_network
from recipes.passage_facts.relations import relation_names
from recipes.passage_facts.train import FactTrainer, loss_of
from recipes.passage_facts.windows import TITLE, TOKENS, passage_windows
from tasks.models.encoders.e5 import e5_is_installed
from tasks.models.encoders.stored_weights import save_weights
from tasks.models.span_reader.reader import MULTILINGUAL

pytestmark = pytest.mark.skipif(not e5_is_installed(), reason="e5-small is not installed")

LINDQVIST = "Tove Lindqvist was born in Brenholm in 1841. She designed the harbour of Skar."


def test_a_window_has_the_title_and_whole_sentences() -> None:
    sentence = "The ferry to Skar leaves at noon. "
    windows = passage_windows("Ferries of Brenholm", 60 * sentence)
    assert len(windows) > 1
    assert all(len(window.ids) <= TOKENS for window in windows)
    for window in windows:
        first, last = window.begin, len(window.ids) - 2
        assert window.words((first, last)).endswith("noon.")
        assert window.words((1, window.begin - 2)) == "Ferries of Brenholm"
    starts = [window.offsets[window.begin][0] for window in windows]
    ends = [window.offsets[-2][1] for window in windows]
    assert starts[1:] == [end + 1 for end in ends[:-1]]


def test_a_long_title_leaves_room_for_the_passage() -> None:
    (window,) = passage_windows("harbour " * 300, LINDQVIST)
    assert window.begin == TITLE + 2


def test_places_of_words_are_whole_tokens_in_passage_and_title() -> None:
    (window,) = passage_windows("Harbour of Skar", LINDQVIST)
    places = window.places("Skar")
    assert [window.words(place) for place in places] == ["Skar", "Skar"]
    assert [window.in_title(place) for place in places] == [False, True]
    assert window.places("Lund") == []


@pytest.mark.parametrize("text", ["", " \n", "**"])
def test_a_passage_without_words_has_no_window(text: str) -> None:
    assert passage_windows("Harbour of Skar", text) == []


def test_most_labelled_facts_have_a_relation_known_by_name() -> None:
    facts = [fact for row in islice(labelled_passages(), 200) for fact in row.facts]
    known = sum(fact.relation in relation_names()[1:] for fact in facts)
    assert known > len(facts) / 2
    assert len(set(relation_names())) == len(relation_names())


def test_labelled_facts_are_spans_of_their_passage_or_its_title() -> None:
    rows = list(islice(labelled_passages(), 60))
    assert {row.part for row in rows} <= {"train", "choose", "report"}
    assert sum(len(row.facts) for row in rows) > 2 * len(rows)
    for row in rows:
        for fact in row.facts:
            assert fact.head in row.heads
            assert fact.tail in row.tails
            assert row.tokens.words(fact.head)
            assert row.tokens.words(fact.tail)


def test_training_teaches_the_facts_of_a_passage(tmp_path: Path) -> None:
    torch.manual_seed(7)
    several = (row for row in islice(labelled_passages(), 60) if len(row.facts) == 2)
    row = min(several, key=lambda row: len(row.tokens.ids))
    network, names = fact_network(MULTILINGUAL), {n: i for i, n in enumerate(relation_names())}
    trainer = FactTrainer(network, tmp_path)
    optimizer = trainer._optimizer(network.parameters(), 3e-4)
    for _ in range(90):
        trainer._step(optimizer, torch.stack(loss_of(network, [row], names)).sum())
    save_weights(network.tuned(), tmp_path / "kept.safetensors")
    kept = fact_network(tmp_path / "kept.safetensors").eval()
    facts = found_facts(kept, row.tokens)[: len(row.facts)]
    assert {(fact.head, fact.tail) for fact in facts} == {(f.head, f.tail) for f in row.facts}
    wanted = {(f.head, f.tail): f for f in row.facts}
    for fact in facts:
        label = wanted[fact.head, fact.tail]
        assert fact.probability > 0.5
        assert fact.relation == (label.relation if label.relation in names else "")
        assert fact.cue == label.cue
