"""Kinds of names that the text does not state: scored at each mention, pooled over a corpus."""

import math
from typing import Any

import numpy as np
import pytest

from tasks.extract.rules.kinds import GUESSED
from tasks.publish.resolve.kinds import Believed, pooled_kinds
from tests.test_find_names import extract_chinese, names


def scores_of(rows: list[dict[str, Any]]) -> dict[str, dict[str, float]]:
    return {row["name"]: dict(zip(GUESSED, row["kind_scores"], strict=True)) for row in rows}


@pytest.mark.parametrize(
    ("text", "name", "kind"),
    [
        ("Their mother, Mara Voss, sang in the choir.", "Mara Voss", "person"),
        ("They settled in Lodgeton in 1843.", "Lodgeton", "place"),
        ("She was employed by the Orvik Foundation.", "Orvik Foundation", "organisation"),
        ("You can configure Plumbd with a YAML file.", "Plumbd", "thing"),
        ("她嫁给了李文昭。", "李文昭", "person"),
        ("他们一家在1843年迁居广州。", "广州", "place"),
        ("他收购了中国银行的股份。", "中国银行", "organisation"),
        ("你可以用YAML文件配置它。", "YAML", "thing"),
    ],
)
def test_words_around_a_name_tell_its_kind(text: str, name: str, kind: str) -> None:
    rows = names(text) if text.isascii() else extract_chinese(text, "配置").names
    scores = scores_of(rows)[name]
    assert max(scores, key=scores.__getitem__) == kind
    assert sum(map(math.exp, scores.values())) == pytest.approx(1, abs=0.05)


def test_shares_of_kinds_are_fitted_to_chinese_names_and_others_apart() -> None:
    rows = [scored(f"Plumbd{number}", 9, thing=-0.1) for number in range(60)]
    place = scored("广州", 2, place=-1.0, thing=-1.5)
    assert Believed([*rows, place]).kind(place) == "place"


def scored(name: str, mentions: int = 1, kind: str = "unknown", **logs: float) -> dict[str, Any]:
    sums = [mentions * logs.get(guess, -4.0) for guess in GUESSED]
    return {
        "name": name, "kind": kind, "mentions": mentions, "scored": mentions, "kind_scores": sums,
    }  # fmt: skip


def test_a_name_whose_mentions_agree_gets_their_kind_whatever_the_recogniser_guessed() -> None:
    row = scored("Plumbd", 9, "person", thing=-0.3)
    assert Believed([row]).kind(row) == "thing"


def test_a_name_that_nothing_tells_of_has_no_kind() -> None:
    row = scored("Plumbd", kind="person")
    assert Believed([row]).kind(row) == "unknown"


def test_a_stated_kind_wins_over_what_the_mentions_make_likely() -> None:
    row = scored("Plumbd", 9, "organisation", thing=-0.1) | {"kind_stated": True}
    assert Believed([row]).kind(row) == "organisation"


def test_a_kind_stated_once_is_not_believed_against_hundreds_of_mentions() -> None:
    stated = {"name": "New Strelsau", "kind": "person", "mentions": 1, "kind_stated": True}
    few, many = scored("New Strelsau", 2, place=-0.1), scored("New Strelsau", 200, place=-0.1)
    assert Believed([stated, few]).kind(few) == "person"
    assert Believed([stated, many]).kind(many) == "place"


def test_mentions_without_scores_follow_the_pooled_kind() -> None:
    head = {"name": "Plumbd", "kind": "person", "mentions": 1}
    assert Believed([scored("Plumbd", 9, thing=-0.3), head]).kind(head) == "thing"


def test_what_most_names_of_a_corpus_are_decides_a_doubtful_one() -> None:
    doubtful = np.log([[0.1, 0.1, 0.35, 0.05, 0.05, 0.35]])
    things = np.log([[0.01, 0.01, 0.02, 0.01, 0.01, 0.94]] * 60)
    sums = np.vstack([doubtful, things])
    likely = pooled_kinds(sums, np.ones(len(sums)))
    assert GUESSED[likely[0].argmax()] == "thing"
    assert likely.sum(1) == pytest.approx(1)


def test_an_initial_before_the_last_word_shows_a_person() -> None:
    rows = {row["name"]: row for row in names("Tomas R. Baker met Tomas Baker in the hall.")}
    assert rows["Tomas R. Baker"]["kind"] == "person"
    assert rows["Tomas R. Baker"]["kind_stated"]
