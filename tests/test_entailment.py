"""The entailment model tells support, contradiction and silence apart; pairs are made as told."""

from random import Random

import numpy as np
import pytest

from recipes.entailment.changed import exchanged_roles, invented_cause, invented_detail
from recipes.entailment.facts import invented_facts
from recipes.entailment.pair import VERDICTS
from tasks.extract.english_pipeline.load import load_english
from tasks.models.entailment.entailment import (
    CLAIM,
    EVIDENCE,
    REFUTE,
    SUPPORT,
    UNKNOWN,
    Entailment,
    pair_ids,
    shipped_entailment,
)
from tasks.models.span_reader.windows import CLS, SEP

FACT = "Harlmere mayor Ada Wren."


@pytest.fixture(scope="module")
def model() -> Entailment:
    return shipped_entailment()


def test_a_fact_bears_out_its_own_relation_and_value_alone(model):
    claims = {
        "The mayor of Harlmere is Ada Wren.": SUPPORT,
        "The mayor of Harlmere is Jonas Castell.": REFUTE,
        "The mayor of Harlmere is Harlmere.": REFUTE,
        "The river of Harlmere is Ada Wren.": UNKNOWN,
    }
    judged = model.judge([(FACT, claim) for claim in claims])
    assert judged[0].argmax() == SUPPORT
    assert (judged[1:, SUPPORT] < judged[0, SUPPORT]).all()


def test_judgements_are_shares_and_do_not_depend_on_neighbours(model):
    pairs = [(FACT, "Ada Wren is the mayor of Harlmere."), ("", ""), ("a " * 9000, "b " * 9000)]
    judged = model.judge(pairs)
    assert np.abs(judged.sum(axis=1) - 1).max() < 1e-9
    alone = np.concatenate([model.judge([pair]) for pair in pairs])
    assert judged == pytest.approx(alone, abs=1e-9)
    assert model.judge([]).shape == (0, 3)


def test_claim_and_evidence_are_cut_apart():
    [ids] = pair_ids([("mill " * 500, "bridge " * 500)])
    assert ids[0] == CLS and ids.count(SEP) == 2
    assert len(ids) == CLAIM + EVIDENCE + 3


def test_roles_change_in_claim_and_evidence():
    parse = load_english(disable=("trainable_lemmatizer",))
    [span] = parse("Mira Castell founded the Orby Mill in 1911.").sents
    text = span.text
    made = list(exchanged_roles(text, text, span, Random(1)))
    assert {verdict for _, _, verdict, _ in made} == {"support", "refute"}
    assert all(
        (evidence == claim) == (verdict == "support") for evidence, claim, verdict, _ in made
    )


def test_causes_and_details_are_supported_only_where_they_are_stated():
    claim, reason = "The mill closed.", "The river was diverted."
    causes = list(invented_cause(claim, claim, reason, Random(1)))
    details = list(invented_detail(claim, claim, "in Ghent", Random(1)))
    added = [evidence for evidence, _, verdict, _ in (*causes, *details) if verdict == "unknown"]
    assert added and all("because" not in evidence.lower() for evidence in added)
    assert [claim for _, claim, verdict, _ in details if verdict == "support"]


def test_invented_facts_have_every_verdict(tmp_path):
    (tmp_path / "docred_rel_info.json").write_text('{"P1": "captain", "P2": "cargo"}')
    (tmp_path / "wikidata_pid2name_fewrel.json").write_text('{"P3": ["harbour", ""]}')
    pairs = list(invented_facts(tmp_path, 60))
    assert {pair.verdict for pair in pairs} == set(VERDICTS)
    assert {pair.held_out for pair in pairs} <= {True, False}
