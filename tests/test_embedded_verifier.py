"""The embedded verifier tells support, refutation and silence apart, on claims of our own."""

from random import Random

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from recipes.entailment.pair import in_reported_half
from recipes.entailment.questions import form
from recipes.entailment.words import families, negated
from tasks.experts.filters.embedded_verifier import EmbeddedVerifier, copied_share, telling_part
from tasks.experts.filters.verifier import REFUTE, SUPPORT, UNKNOWN

EVIDENCE = (
    "Harrow Bridge is a steel bridge over the Sel in Ostwick. It was designed by Mira Castell and "
    "opened in 1911."
)
HOSTILE = ["", " ", "\x00\x1b[2J", "a" * 1_000_000, "no " * 300_000, "。" * 1000, "1" * 100_000]


@pytest.fixture(scope="module")
def verifier() -> EmbeddedVerifier:
    return EmbeddedVerifier()


def test_verdicts_of_plain_cases(verifier):
    claims = [
        "Harrow Bridge opened in 1911.",
        "Harrow Bridge was designed by Mira Castell.",
        "Harrow Bridge opened in 1937.",
        "Harrow Bridge is not a steel bridge.",
    ]
    verdicts = verifier.verify([(EVIDENCE, claim) for claim in claims])
    assert (verdicts[:, SUPPORT] > verdicts[:, REFUTE]).tolist() == [True, True, False, False]


def test_evidence_about_something_else_is_unknown(verifier):
    other = "Cider is pressed from apples in early autumn."
    [verdict] = verifier.verify([(other, "Mira Castell became mayor in 2019.")])
    assert verdict.argmax() == UNKNOWN


def test_claims_or_evidence_in_chinese_are_unknown(verifier):
    pairs = [
        ("木卫一由伽利略发现。", "木卫一由惠更斯发现。"),
        ("北京是中国的首都。", "北京不是中国的首都。"),
        ("木卫一由伽利略发现。", "Io was discovered by Galileo."),
        ("Io was discovered by Galileo.", "木卫一由伽利略发现。"),
    ]
    assert (verifier.verify(pairs)[:, UNKNOWN] == 1).all()
    [verdict] = verifier.verify([("Io (木卫一) was discovered by Galileo.", "Galileo found Io.")])
    assert verdict[UNKNOWN] < 1


def test_hostile_pairs_have_verdicts(verifier):
    pairs = [(left, right) for left in (*HOSTILE, EVIDENCE) for right in ("", HOSTILE[3], "It is.")]
    verdicts = verifier.verify(pairs)
    assert np.isfinite(verdicts).all()
    assert np.abs(verdicts.sum(axis=1) - 1).max() < 1e-9
    assert all(v[UNKNOWN] == 1 for v, pair in zip(verdicts, pairs, strict=True) if "" in pair)
    assert ((verifier.faithful(pairs) >= 0) & (verifier.faithful(pairs) <= 1)).all()
    assert verifier.verify([]).shape == (0, 3)


def test_a_verdict_does_not_depend_on_its_neighbours(verifier):
    pairs = [(EVIDENCE, "Harrow Bridge is in Ostwick."), (EVIDENCE, "The Sel is a lake.")]
    together = verifier.verify(pairs)
    alone = np.concatenate([verifier.verify([pair]) for pair in pairs])
    assert together == pytest.approx(alone, abs=1e-9)


def test_the_telling_sentences_are_read(verifier):
    filler = "Trains run every hour. " * 400
    claim = "Harrow Bridge was designed by Mira Castell."
    assert telling_part(filler + EVIDENCE, claim) == EVIDENCE
    assert telling_part("One sentence", claim) == "One sentence"


def test_copies_are_faithful_and_new_joints_are_not():
    original = "Mira Castell designed the bridge. Tolls on the old ferry ended in 1950."
    assert copied_share(original, "Mira Castell designed the bridge.") == 1
    assert copied_share(original, "Mira Castell ended tolls in 1950.") < 0.5
    assert copied_share("木卫一由伽利略发现。它很小。", "木卫一由伽利略发现。") == 1
    assert copied_share("木卫一由伽利略发现。它很小。", "木卫一由惠更斯发现。") < 0.5


@settings(max_examples=80, deadline=None)
@given(st.text(max_size=80), st.text(max_size=80))
def test_copies_are_shares(evidence, claim):
    assert 0 <= copied_share(evidence, claim) <= 1


def test_families_have_no_loners():
    assert all(len(family) > 1 for each in families().values() for family in each)


def test_made_claims_keep_their_form():
    made = [form(a) for a in ("1911", "12 km", "Mira Castell", "steel", "old steel")]
    assert made == ["year", "number", "name2", "word", "words"]
    assert negated("The bridge runs.", Random(0)) is None
    assert "bridge is" in (negated("The bridge is old.", Random(0)) or "")
    assert 0.4 < np.mean([in_reported_half(str(n)) for n in range(500)]) < 0.6


def test_questions_become_statements():
    from recipes.entailment.statements import statement
    from tasks.extract.english_pipeline.load import load_english

    parse = load_english(disable=("ner", "trainable_lemmatizer"))
    cases = {
        ("Who designed Harrow Bridge?", "Mira Castell"): "Mira Castell designed Harrow Bridge.",
        ("What is the name of the bridge?", "Harrow Bridge"): (
            "The name of the bridge is Harrow Bridge."
        ),
        ("Was it old?", "yes"): None,
    }
    assert {case: statement(parse(case[0]), case[1]) for case in cases} == cases
