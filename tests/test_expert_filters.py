"""Filters keep every text, say why one was dropped, and choose as the paper's formulas do."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from schemas.errors import UsageError
from tasks.experts.filters.factuality import score_factuality, speaking_verdict, verify_claims
from tasks.experts.filters.pruning import ExtractiveSummarizer, prune
from tasks.experts.filters.selection import (
    cosines,
    drop_unusable,
    keep_relevant,
    relevance,
    sample_factual,
)
from tasks.experts.filters.verifier import truth_shares
from tasks.experts.knowledge import KnowledgeText
from tasks.models.encoders.minilm import MiniLM

HOSTILE = [
    "",
    " \n",
    "\x00\x1b[2J\ufffe",
    "a" * 1_000_000,
    "Wörter. " * 40_000,
    "。" * 5_000,
    "🜂" * 300,
]


def written(*texts: str) -> list[KnowledgeText]:
    return [KnowledgeText("atlas", text) for text in texts]


def scored(scores: Sequence[float]) -> list[KnowledgeText]:
    return [replace(KnowledgeText("atlas", f"Text {n}."), score=s) for n, s in enumerate(scores)]


def kept(texts: Sequence[KnowledgeText]) -> list[int]:
    return [place for place, text in enumerate(texts) if text.dropped is None]


class Words:
    """Verifies by shared words; a claim that says `not` is refuted by what it shares words with."""

    id = "words"

    def __init__(self) -> None:
        self.pairs: list[tuple[str, str]] = []

    def verify(self, pairs: Sequence[tuple[str, str]]) -> np.ndarray:
        self.pairs += pairs
        rows = []
        for evidence, claim in pairs:
            claim_words = set(claim.lower().split())
            share = len(claim_words & set(evidence.lower().split())) / max(1, len(claim_words))
            verdict = [0.0, share, 1 - share] if "not" in claim_words else [share, 0.0, 1 - share]
            rows.append(verdict)
        return np.array(rows).reshape(-1, 3)

    def faithful(self, pairs: Sequence[tuple[str, str]]) -> np.ndarray:
        return truth_shares(self.verify(pairs)) if pairs else np.zeros(0)


def test_the_first_text_is_drawn_by_the_shares_of_the_paper():
    texts = scored([0.9, 0.8, 0.7, 0.6, 0.2, 0.1])
    drawn = [kept(sample_factual(texts, 1, pool=4, seed=seed))[0] for seed in range(4000)]
    seen = np.bincount(drawn, minlength=6) / 4000
    assert np.abs(seen - [0.2887, 0.2612, 0.2363, 0.2138, 0, 0]).max() < 0.03


def test_a_low_temperature_draws_the_best_and_zero_is_refused():
    texts = scored([0.1, 0.9, 0.5, 0.8])
    assert kept(sample_factual(texts, 2, temperature=1e-4)) == [1, 3]
    assert kept(sample_factual(texts, 2, greedy=True)) == [1, 3]
    with pytest.raises(UsageError):
        sample_factual(texts, 2, temperature=0)


def test_greedy_keeps_the_earlier_of_equals():
    assert kept(sample_factual(scored([0.5] * 6), 2, greedy=True)) == [0, 1]


def test_reasons_tell_the_pool_from_the_rest():
    texts = sample_factual(scored([0.9, 0.8, 0.7, 0.1]), 1, pool=2, greedy=True)
    assert [text.dropped for text in texts] == [None, "sampled", "factuality", "factuality"]


def test_cosines_do_not_depend_on_lengths():
    vectors = np.array([[2.0, 0.0], [0.0, 0.0], [3.0, 4.0], [np.nan, 1.0]])
    assert cosines(np.array([5.0, 0.0]), vectors) == pytest.approx([1.0, 0.0, 0.6, 0.0])


def test_the_most_relevant_texts_stay():
    texts = keep_relevant(written("a", "b", "c", "d"), np.array([1.0, 0.0, 0.6, 0.0]), 2)
    assert [text.dropped for text in texts] == [None, "relevance", None, "relevance"]


def test_words_of_the_question_make_no_text_relevant():
    question = "Who wound the clock of Lund?"
    texts = [
        KnowledgeText("clocks", "The clock of Lund was wound by a clockmaker."),
        KnowledgeText("fish", "The clock of Lund was wound by a herring."),
        KnowledgeText("echo", "The clock of Lund was wound."),
    ]
    fields = {"clocks": "clocks and towers", "fish": "cod, eels and herring"}
    scores = relevance(question, texts, MiniLM().encode, fields)
    assert scores[0] > scores[1] > scores[2] == 0


def test_agreement_is_a_part_of_its_own():
    sure, unsure = (replace(KnowledgeText("a", "b"), score=0.6, agreement=a) for a in (1.0, None))
    assert (sure.score, sure.trust) == (0.6, 0.8)
    assert unsure.trust == 0.6


def test_a_filter_that_is_off_drops_nothing():
    texts = written("A long text. " * 20, "B.")
    assert kept(keep_relevant(texts, np.ones(2), None)) == [0, 1]
    assert prune("?", texts, None) == texts
    unverified = score_factuality(texts, Words(), None)
    assert [(text.support, text.unknown) for text in unverified] == [(0.0, 1.0), (0.0, 1.0)]


SCORES = st.lists(st.floats(-1, 2) | st.just(float("nan")), max_size=30)


@settings(max_examples=60, deadline=None)
@given(SCORES, st.integers(0, 35), st.integers(0, 40), st.integers(0, 5), st.booleans())
def test_sampling_loses_nothing(scores, keep, pool, seed, greedy):
    texts = scored(scores)
    texts[::3] = [text.drop("relevance") for text in texts[::3]]
    standing = kept(texts)
    drawn = sample_factual(texts, keep, pool=pool, seed=seed, greedy=greedy)
    assert [text.text for text in drawn] == [text.text for text in texts]
    assert set(kept(drawn)) <= set(standing)
    assert len(kept(drawn)) == min(keep, len(standing))
    assert drawn == sample_factual(texts, keep, pool=pool, seed=seed, greedy=greedy)
    assert all(text.dropped == "relevance" for text in drawn[::3])


@settings(max_examples=60, deadline=None)
@given(st.lists(st.floats(-1, 1), max_size=20), st.integers(0, 25))
def test_relevance_keeps_the_best_and_all_texts(scores, k):
    texts = written(*(f"Text {n}" for n in range(len(scores))))
    texts_after = keep_relevant(texts, np.array(scores), k)
    assert [text.text for text in texts_after] == [text.text for text in texts]
    assert len(kept(texts_after)) == min(k, len(texts))
    best = [texts_after[place].relevance or 0.0 for place in kept(texts_after)]
    rest = [text.relevance or 0.0 for text in texts_after if text.dropped]
    assert not best or not rest or min(best) >= max(rest)


@settings(max_examples=40, deadline=None)
@given(st.lists(st.text(max_size=40), max_size=12))
def test_repeated_and_empty_texts_are_named(texts):
    texts_after = drop_unusable("Is it?", written(*texts))
    assert [text.text for text in texts_after] == texts
    standing = [" ".join(texts_after[n].text.casefold().split()) for n in kept(texts_after)]
    assert len(standing) == len(set(standing))
    assert all(any(map(str.isalnum, text)) for text in standing)


def test_a_letter_alone_is_no_text_of_an_expert():
    texts = written("m.", " “b”", "C", "7", "2 m", "猫")
    assert [text.dropped for text in drop_unusable("Which?", texts)] == ["empty"] * 2 + [None] * 4


def count_letters(texts: list[str]) -> np.ndarray:
    return np.array([[text.lower().count(c) for c in "aeiourst"] for text in texts], np.float32)


def test_extracts_keep_to_the_limit_and_to_the_text():
    long = "Harrow Bridge spans the Sel. It opened in 1911. Tolls ended in 1950. " * 3
    pruned = prune(
        "When did it open?", written(long, "Short."), ExtractiveSummarizer(count_letters), 9
    )
    assert pruned[1].pruned is None
    assert pruned[0].pruned and len(pruned[0].pruned.split()) <= 9
    assert all(part in long for part in pruned[0].pruned.split(". "))


@settings(max_examples=40, deadline=None)
@given(st.text(max_size=300), st.integers(1, 20))
def test_extracts_are_short_whatever_the_text(text, most_words):
    text = f"{text} {'word ' * 30}"
    [pruned] = prune("?", written(text), ExtractiveSummarizer(count_letters), most_words)
    assert len(pruned.words.split()) <= most_words
    chinese = "长江是中国最长的河流" * 20
    [pruned] = prune("长江", written(chinese), ExtractiveSummarizer(count_letters), most_words)
    assert pruned.words == chinese[: 2 * most_words]


def test_extracts_hold_the_sentence_nearest_the_question():
    from tasks.models.encoders.load import load_encoder

    encoder = load_encoder("minilm")
    assert encoder is not None
    text = (
        "The valley is known for its orchards and for its cider, which is sold abroad. "
        "Mira Castell became mayor of Ostwick in 2019 after a close election. "
        "Trains run every hour between the harbour and the old market square."
    )
    pruned = prune(
        "Who is the mayor of Ostwick?", written(text), ExtractiveSummarizer(encoder.encode), 15
    )
    assert pruned[0].words == "Mira Castell became mayor of Ostwick in 2019 after a close election."


def test_hostile_texts_pass_all_filters():
    texts = drop_unusable("?", written(*HOSTILE))
    texts = keep_relevant(texts, np.ones(len(texts)), 6)
    texts = prune("?", texts, ExtractiveSummarizer(count_letters))
    texts = score_factuality(texts, Words(), lambda claim: [claim[:50], ""])
    texts = sample_factual(texts, 2)
    assert [text.text for text in texts] == HOSTILE
    assert len(kept(texts)) == 2


def test_scores_are_the_mean_of_summary_and_fact():
    text = replace(KnowledgeText("atlas", "the bridge is old and red"), pruned="the bridge is red")
    [told] = score_factuality([text], Words(), lambda claim: ["the bridge", "bridge is red"])
    assert told.summary == pytest.approx(1.0)  # (1 - 0 + 1) / 2: all its words are the text's
    assert told.support == pytest.approx(0.75)  # three of four words, at the second piece
    assert told.score == pytest.approx((1.0 + (0.75 + 1) / 2) / 2)


def test_evidence_that_says_nothing_does_not_hide_a_refutation():
    refuted, silent = np.array([0.05, 0.9, 0.05]), np.array([0.02, 0.02, 0.96])
    assert speaking_verdict(np.array([silent, refuted])).tolist() == refuted.tolist()
    supported = np.array([0.8, 0.1, 0.1])
    assert speaking_verdict(np.array([silent, refuted, supported])).tolist() == supported.tolist()
    [verdict] = verify_claims(["anything"], Words(), lambda claim: [])
    assert verdict.tolist() == [0, 0, 1]


def test_dropped_texts_are_not_verified():
    verifier = Words()
    texts = [written("kept words")[0], written("dropped words")[0].drop("relevance")]
    texts_after = score_factuality(texts, verifier, lambda claim: ["evidence"])
    assert texts_after[1].score is None
    assert all("dropped" not in claim for _, claim in verifier.pairs)


def test_what_an_expert_repeats_is_believed_more_where_evidence_is_silent():
    texts = [KnowledgeText("sure", t) for t in ("Ada", "Ada", "ada ", "Bert")]
    texts += [KnowledgeText("guesses", t) for t in ("Carl", "Dora")] + [
        KnowledgeText("once", "Emil")
    ]
    checked = drop_unusable("?", texts)
    assert [t.agreement for t in checked] == [0.75, 0.75, 0.75, 0.25, 0.5, 0.5, None]
    scored = score_factuality(checked, _Silent(), None)
    assert {t.score for t in scored if t.dropped is None} == {0.75}
    by_text = {t.text: t.trust for t in scored if t.dropped is None}
    assert by_text == {"Ada": 0.75, "Bert": 0.5, "Carl": 0.625, "Dora": 0.625, "Emil": 0.75}


def test_a_text_that_only_repeats_its_question_drops():
    texts = written("The mayor of Brenholm is Brenholm.", "The mayor of Brenholm is Ada Wren.")
    checked = drop_unusable("Who is the mayor of Brenholm?", texts)
    assert [text.dropped for text in checked] == ["repeated", None]
    assert kept(drop_unusable("Is Ada Wren the mayor?", written("Ada Wren is the mayor."))) == [0]
    assert kept(drop_unusable("Which is older, Orby or Lund?", written("Orby is older."))) == [0]
    chosen = drop_unusable("Who is mayor?\nChoices: A. Ada; B. Bert", written("Bert is mayor."))
    assert kept(chosen) == [0]


def test_summaries_have_a_verifier_of_their_own():
    class Half:
        id = "half"

        def faithful(self, pairs: Sequence[tuple[str, str]]) -> np.ndarray:
            return np.full(len(pairs), 0.5)

    pruned = replace(KnowledgeText("a", "the cat sat on the mat"), pruned="the cat sat")
    [scored] = score_factuality([pruned], Words(), lambda claim: ["the cat sat"], Half())
    assert (scored.summary, scored.support) == (0.5, 1.0)


class _Silent:
    """A verifier that is never asked."""

    id = "silent"

    def verify(self, pairs: object) -> np.ndarray:
        raise AssertionError(pairs)

    faithful = verify
