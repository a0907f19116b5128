"""Typed relations: what the model is given of a passage, and what is made of its scores."""

from pathlib import Path

import numpy as np
import pytest
import torch

from schemas.settings import EngineSettings
from tasks.extract.extracted import Mention
from tasks.extract.rules import RulesEngine
from tasks.extract.rules.english import parsed, understand
from tasks.extract.rules.tree import tree_of
from tasks.extract.typed.facts import Entity, entities_of, fits, read_part
from tasks.extract.typed.model import SHIPPED_MODEL, typed_model
from tasks.extract.typed.training.examples import Example, joined
from tasks.extract.typed.training.network import loss_of
from tasks.extract.typed.training.states import pairs_of, token_mentions
from tasks.extract.typed.training.train import Knowledge
from tasks.models.weight_files import read_header
from tasks.text.common_relations import common_relations
from tasks.text.values import parse_value

TEXT = (
    "Ada Brandt, a Norwegian painter, was born in Larvik, Norway, on 4 May 1921. "
    "She studied at the University of Bergen and married Ole Dahl."
)


def row(text: str) -> Mention:
    return {
        "passage_id": "p", "text": text, "subject": "", "headings": "", "language": "en",
        "title": "", "blocks": None, "speaker": "", "audience": "",
    }  # fmt: skip


def triples(text: str, *, typed: bool) -> list[tuple[str, str, str]]:
    engine = RulesEngine(EngineSettings(typed=typed))
    (extracted,) = engine.extract([row(text)])
    assert extracted.failed is None
    return [(t["head"], t["relation"], t["tail"]) for t in extracted.triples]


def test_the_model_names_what_is_stated() -> None:
    assert ("Ada Brandt", "place of birth", "Larvik") in triples(TEXT, typed=True)


def test_the_setting_turns_it_off_and_is_part_of_the_version() -> None:
    without = triples(TEXT, typed=False)
    assert set(without) < set(triples(TEXT, typed=True))
    versions = {RulesEngine(EngineSettings(typed=typed)).prompt_sha for typed in (True, False)}
    assert len(versions) == 2


def test_evidence_is_the_sentence_and_the_confidence_a_probability() -> None:
    (extracted,) = RulesEngine(EngineSettings(typed=True)).extract([row(TEXT)])
    births = [t for t in extracted.triples if t["relation"] == "place of birth"]
    assert [TEXT[t["span_start"] : t["span_end"]] for t in births] == [TEXT.split(" She")[0]]
    assert all(0.0 < t["confidence"] < 1.0 for t in births)


def test_nothing_is_named_of_what_is_not_asserted() -> None:
    denied = "Ole Dahl was not born in Larvik, Norway. Would Ole Dahl marry Ada Brandt?"
    names = {relation for _, relation, _ in triples(denied, typed=True)}
    assert "place of birth" not in names and "spouse" not in names


def test_a_text_without_two_names_needs_no_model() -> None:
    assert triples("It rained all day, and nobody came.", typed=True) == []


def test_two_forms_of_one_name_are_no_pair() -> None:
    text = "Dahl was mayor of Larvik. In 1901 the painter Ole Dahl was killed."
    assert not [(h, t) for h, _, t in triples(text, typed=True) if {h, t} == {"Dahl", "Ole Dahl"}]


def test_mentions_are_names_pronouns_and_dates() -> None:
    ((given, _, prose, doc),) = parsed([row(TEXT)], None)
    entities = {
        entity.name: entity for entity in entities_of(understand(given, tree_of(doc, prose)))
    }
    mentions = [TEXT[start:end] for start, end in entities["Ada Brandt"].mentions]
    assert "She" in mentions
    assert entities["4 May 1921"].value is not None


def test_kinds_and_dates_must_fit_the_relation() -> None:
    born_on, born_in = (common_relations()[key] for key in ("P569", "P19"))
    date = Entity("4 May 1921", "date", value=parse_value("4 May 1921", "en"))
    person, place = Entity("Ada Brandt", "person"), Entity("Larvik", "place")
    assert fits(born_on, person, date) and not fits(born_in, person, date)
    assert fits(born_in, person, place) and not fits(born_in, place, person)
    assert not fits(born_on, date, date)


def test_any_relation_can_be_asked_for_by_its_description() -> None:
    model = typed_model()
    vectors = model.relation_vectors(["spouse: whom a person is married to", "crosses: bridge"])
    entities = [[(TEXT.index(name), TEXT.index(name) + len(name))] for name in ("Ada", "Ole")]
    kinds = ["person", "person"]
    scores = model.scores(TEXT, entities, kinds, np.array([[0, 1]]), vectors)
    assert scores.shape == (1, 2) and scores[0, 0] > scores[0, 1]


def test_what_lies_beyond_the_window_scores_nothing() -> None:
    text = "word " * 600 + "Larvik"
    scores = typed_model().scores(
        text,
        [[(0, 4)], [(3000, 3006)]],
        ["unknown", "unknown"],
        np.array([[0, 1]]),
        typed_model().own_vectors(),
    )
    assert np.isneginf(scores).all()


def test_the_shipped_weights_are_small_and_hold_no_code() -> None:
    files = sorted(path.name for path in SHIPPED_MODEL.iterdir())
    assert files == ["README.md", "model.safetensors", "relations.json"]
    weights = SHIPPED_MODEL / "model.safetensors"
    assert weights.stat().st_size < 15_000_000
    assert {kind for kind, _ in read_header(weights).values()} == {"F16"}


def test_absence_of_a_label_speaks_only_of_what_a_data_set_labels() -> None:
    mentions = [[(0, 4)], [(5, 9)], [(10, 14)]]
    whole = Example(
        "a", "Anna Bert Carl", mentions, [(0, 1, "P26"), (1, 2, "P22")], "redocred", True
    )
    some = Example("b", "Anna Bert Carl", mentions, [(0, 1, "P84")], "wiki80", False)
    knowledge = Knowledge([whole, some])
    ranges = [[(0, 1)], [(1, 2)], [(2, 3)]]
    assert len(pairs_of(whole, ranges, 1.0)) == 6
    assert pairs_of(some, ranges, 1.0).tolist() == [[0, 1], [1, 0]]
    holds, fails = knowledge.targets(some, np.array([[0, 1], [1, 0]]))
    place = knowledge.place["P84"]
    assert holds[:, place].tolist() == [1.0, 0.0]
    assert fails[:, place].tolist() == [False, True]


def test_the_loss_falls_as_what_holds_rises_above_the_threshold() -> None:
    holds, fails = torch.tensor([[1.0, 0.0]]), torch.tensor([[0.0, 1.0]])
    losses = [
        float(loss_of(torch.tensor([row]), holds, fails)) for row in ([-2.0, 2.0], [2.0, -2.0])
    ]
    assert losses[1] < 0.3 < losses[0]


@pytest.mark.parametrize(
    ("words", "text"),
    [
        (["He", "said", '"', "no", '"', "."], 'He said "no".'),
        (
            ["Ann", "(", "born", "1900", ")", ",", "Bob", "'s", "aunt"],
            "Ann (born 1900), Bob's aunt",
        ),
    ],
)
def test_tokens_become_running_text_with_their_places(words: list[str], text: str) -> None:
    running, spans = joined([words])
    assert running == text
    assert [running[start:end] for start, end in spans[0]] == words


def test_mentions_that_were_cut_off_have_no_tokens() -> None:
    example = Example("a", "Anna Bert", [[(0, 4)], [(5, 9)]], [], "redocred", True)
    assert token_mentions(example, np.array([[0, 0], [0, 4]])) == [[(1, 2)], []]


def test_the_model_needs_a_folder_of_its_files(tmp_path: Path) -> None:
    from tasks.extract.typed.model import TypedModel

    with pytest.raises(FileNotFoundError):
        TypedModel(tmp_path)


def test_only_sentences_with_two_entities_are_read() -> None:
    text = "It rained in the morning. " + TEXT + " Nobody knew why."
    ((given, _, prose, doc),) = parsed([row(text)], None)
    passage = understand(given, tree_of(doc, prose))
    entities = entities_of(passage)
    part, mentions = read_part(passage, entities)
    assert part == TEXT
    for entity, spans in zip(entities, mentions, strict=True):
        assert [part[a:b] for a, b in spans] == [text[a:b] for a, b in entity.mentions]
