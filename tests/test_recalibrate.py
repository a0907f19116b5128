"""How verdicts of a home correct confidence, and what they are worth together."""

from datetime import UTC, datetime

import numpy as np
import pytest

from schemas.verdicts import Verdict
from tasks.audit import wilson
from tasks.extract.extracted import STATED
from tasks.publish.recalibrate import (
    SPREAD_OF_MODELS,
    SPREAD_OF_RULES,
    fit_line,
    recalibrations,
)

NOW = datetime(2026, 1, 1, tzinfo=UTC)
VERDICT = {
    "fact": "Ada | born in | London", "relation": "born in", "source": "s",
    "document_id": "d", "span_start": 0, "span_end": 9, "sensitivity": "normal",
    "engine_confidence": 0.9, "audit_id": "a", "scope": "", "stratum": "", "population": 100,
    "edition": "1", "judged_at": NOW, "verdict": "wrong",
}  # fmt: skip


def test_without_verdicts_nothing_changes():
    line = fit_line([], [], SPREAD_OF_RULES)
    assert (line.intercept, line.slope) == (0.0, 1.0)
    assert line.correct(0.7) == pytest.approx(0.7)


@pytest.mark.parametrize("spread", [SPREAD_OF_RULES, SPREAD_OF_MODELS])
def test_one_verdict_hardly_moves_any_confidence(spread):
    line = fit_line([0.9], [False], spread)
    assert all(0 < given - line.correct(given) < 0.015 for given in (0.5, 0.72, 0.9))


def test_ten_verdicts_move_little_and_a_thousand_decide():
    few = fit_line([0.7] * 10, [False] * 5 + [True] * 5, SPREAD_OF_RULES)
    many = fit_line([0.7] * 1000, [False] * 500 + [True] * 500, SPREAD_OF_RULES)
    assert 0.6 < few.correct(0.7) < 0.67
    assert many.correct(0.7) == pytest.approx(0.5, abs=0.01)


def test_a_line_never_turns_the_order_round():
    odds = [0.9, 0.3] * 500
    line = fit_line(odds, [False, True] * 500, SPREAD_OF_RULES)
    assert line.slope == 0.0
    assert line.correct(0.9) == pytest.approx(0.5, abs=0.01)


def test_a_known_line_is_found_again():
    random = np.random.default_rng(3)
    given = random.uniform(0.2, 0.95, 20_000)
    true = 1 / (1 + np.exp(-(-0.8 + 0.6 * np.log(given / (1 - given)))))
    useful = random.uniform(size=len(given)) < true
    line = fit_line(list(given), list(useful), SPREAD_OF_RULES)
    assert (line.intercept, line.slope) == pytest.approx((-0.8, 0.6), abs=0.05)


def test_kinds_and_engines_have_lines_of_their_own():
    groups = {("triple", "rules"), ("triple", "openai"), ("alias", "rules")}
    table = Verdict.to_table(
        VERDICT | {"fact_id": str(n), "fact_kind": kind, "engine": engine}
        for n, (kind, engine) in enumerate([*groups] * 4)
    )
    lines = {(row["fact_kind"], row["engine"]): row for row in recalibrations(table).to_pylist()}
    assert set(lines) == groups
    # Nothing is known beforehand of how right models are, so their verdicts weigh more.
    assert lines["triple", "openai"]["intercept"] < lines["triple", "rules"]["intercept"] < 0
    assert recalibrations(Verdict.to_table([])).num_rows == 0


def test_verdicts_on_cells_say_nothing_about_sentences():
    lines = recalibrations(
        Verdict.to_table(
            VERDICT | {"fact_id": f"{given} {n}", "fact_kind": "triple", "engine": engine}
            | {"engine_confidence": given, "verdict": verdict}
            for engine, given, verdict in [
                ("rules", STATED, "wrong"), ("rules", 0.8, "useful"), ("openai", STATED, "useful")
            ]
            for n in range(9)
        )
    ).to_pylist()  # fmt: skip
    assert {(row["engine"], row["laid_out"]): row["intercept"] > 0 for row in lines} == {
        ("openai", False): True, ("rules", False): True, ("rules", True): False
    }  # fmt: skip


def test_what_is_useless_is_right_which_is_all_that_the_confidence_of_statements_says():
    useless = VERDICT | {"verdict": "useless", "engine": "rules"}
    table = Verdict.to_table(
        useless | {"fact_id": f"{kind} {n}", "fact_kind": kind}
        for kind in ("statement", "triple")
        for n in range(9)
    )
    lines = {row["fact_kind"]: row["intercept"] for row in recalibrations(table).to_pylist()}
    assert lines["triple"] < 0 < lines["statement"]


def test_the_interval_is_wilsons():
    assert wilson(0.5, 10) == pytest.approx((0.2366, 0.7634), abs=1e-4)
    assert wilson(1.0, 5) == pytest.approx((0.5655, 1.0), abs=1e-4)
