"""Labelled facts stand in their passages, and the finder computes what the trained network does."""

from itertools import islice

import numpy as np
import pytest
import torch

from recipes.passage_facts.finder import FactFinder, relation_names, relations
from recipes.passage_facts.labels import labelled_passages
from recipes.passage_facts.network import PARTS, FactNetwork
from recipes.passage_facts.train import allowed_spans
from recipes.passage_facts.windows import TITLE, TOKENS, passage_windows
from tasks.models.encoders.e5 import e5_is_installed

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


def test_relations_have_names_in_both_languages() -> None:
    assert relation_names() == ["", *relations()]
    assert all(relations().values())


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


def test_the_finder_scores_spans_and_pairs_as_the_network_in_training() -> None:
    torch.manual_seed(3)
    network = FactNetwork.heads_alone(len(relation_names()))
    finder = FactFinder.of_parts(
        {
            name: rows.detach().numpy()
            for name, rows in network.named_parameters()
            if name.split(".")[0] in PARTS
        }
    )
    (row,) = islice(labelled_passages(), 1)
    states = torch.randn(len(row.tokens.ids), 384)
    with torch.no_grad():
        spans = network.span_scores(states[None], allowed_spans([row], len(states)))[0].numpy()
        both = torch.tensor([[[2, 3], [9, 9]], [[12, 14], [4, 5]]])
        pairs = network.pairs(states, both[:, 0], both[:, 1])
        cues = network.cue_scores(states, pairs)
    found = finder._span_scores(states.numpy(), row.tokens)
    open_ = np.isfinite(found)
    assert open_.any()
    np.testing.assert_allclose(found[open_], spans[open_], rtol=1e-4, atol=1e-4)
    np.testing.assert_allclose(finder._pairs(states.numpy(), both.numpy()), pairs, atol=1e-4)
    starts, ends = cues.numpy()
    for cue, start, end in zip(
        finder._cues(states.numpy(), pairs.numpy()), starts, ends, strict=True
    ):
        if cue:
            assert start[cue[0]] + end[cue[1]] > start[0] + end[0]
