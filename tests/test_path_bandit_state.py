"""A bandit in the live records: nothing is lost, nothing counts twice, the log says it all."""

import json
import multiprocessing
import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pyarrow.parquet as pq
import pytest
from pydantic import ValidationError

from schemas.bandits import BanditArm, BanditDecision, BanditReward
from schemas.errors import UsageError
from schemas.operations import AnswerRecord
from tasks.paths.bandit.bandit import (
    Bandit,
    BanditPlan,
    Reward,
    arm_names,
    give_feedback,
    make_bandit,
    open_bandit,
    reset_bandit,
)
from tasks.paths.bandit.context import FEATURES, AskedQuestion, ContextEncoding
from tasks.paths.bandit.linucb import BanditOptions
from warehouse.journal import Journal
from warehouse.live import record
from warehouse.sql_session import live_parts, run_sql

ARMS = arm_names(("subgraph", "walks"), ("triples", "sentences", "description"))
WIDE = 12


def vectors(count: int, seed: int = 0) -> np.ndarray:
    return np.random.default_rng(seed).normal(size=(count, WIDE)).astype(np.float32)


def encoding() -> ContextEncoding:
    return ContextEncoding.fit("hash-1", vectors(40), [0.5, 2.0, 8.0], dimensions=4)


def plan(**values) -> BanditPlan:
    return BanditPlan(ARMS, "subgraph+sentences", **{"trusted_after": 0, **values})


@pytest.fixture
def live(tmp_path: Path) -> Journal:
    return Journal(tmp_path / "live")


@pytest.fixture
def bandit(live: Journal) -> Bandit:
    return make_bandit(live, "g", "m", plan(), encoding())


def questions(*ids: str) -> dict[str, AskedQuestion]:
    return {
        id_: AskedQuestion(f"Who wrote {id_}?", vector)
        for id_, vector in zip(ids, vectors(len(ids), len(ids)), strict=True)
    }


def decide(bandit: Bandit, *ids: str) -> list[BanditDecision]:
    return list(bandit.decide(questions(*ids)).values())


def play(bandit: Bandit, ids: list[str], seed: int = 0) -> None:
    """Decide on all questions, and reward each decision."""
    rng = np.random.default_rng(seed)
    decisions = decide(bandit, *ids)
    bandit.reward([Reward(d.decision_id, float(rng.random() < 0.5)) for d in decisions], "labels")


def statistics(bandit: Bandit) -> list[list]:
    learned = bandit.learned
    return [a.tolist() for a in (learned.gram, learned.weighted, learned.pulls, learned.rewards)]


def pulls(bandit: Bandit) -> int:
    return int(bandit.learned.pulls.sum())


# -- arms, plans, contexts -----------------------------------------------------------------------


def test_there_are_as_many_arms_as_extractions_times_templates():
    assert len(set(ARMS)) == len(ARMS) == 6
    assert ARMS[0] == "subgraph+triples" and ARMS[-1] == "walks+description"


@pytest.mark.parametrize(
    "wrong",
    [
        {"arms": ()},
        {"arms": ("a", "a"), "fallback": "a"},
        {"fallback": "none of them"},
        {"caution": 2},
        {"per_token": -1},
        {"per_second": float("nan")},
    ],
)
def test_a_plan_without_a_meaning_is_refused(wrong):
    with pytest.raises((UsageError, ValidationError)):
        BanditPlan(**{"arms": ARMS, "fallback": ARMS[0], **wrong})


def test_contexts_have_length_one_and_survive_saving():
    made = encoding()
    questions = [
        AskedQuestion("Who wrote Hamlet?", vectors(1)[0]),
        AskedQuestion("谁写了哈姆雷特？", vectors(1)[0], score=2.0, items=3),
        AskedQuestion("", made.mean.copy(), score=float("inf"), items=0),
        AskedQuestion("?" * 100_000, vectors(1)[0], score=float("nan"), items=10**9),
    ]
    contexts = made.contexts(questions)
    assert contexts.shape == (4, 4 + FEATURES)
    np.testing.assert_allclose(np.linalg.norm(contexts, axis=1), 1)
    assert len({tuple(row) for row in contexts.round(6)}) == 4
    again = ContextEncoding.from_dict(made.to_dict())
    np.testing.assert_array_equal(again.contexts(questions), contexts)


def test_an_encoding_does_not_depend_on_the_order_of_its_questions():
    first = ContextEncoding.fit("e", vectors(40), dimensions=4)
    second = ContextEncoding.fit("e", vectors(40)[::-1], dimensions=4)
    np.testing.assert_allclose(first.components, second.components, atol=1e-5)


def test_vectors_of_another_encoder_are_refused(live, bandit):
    with pytest.raises(UsageError, match="hash-1"):
        bandit.decide({"a": AskedQuestion("?", np.ones(3, np.float32))})
    with pytest.raises(UsageError):
        bandit.decide({"a": AskedQuestion("?", np.full(WIDE, np.nan))})
    assert not live.parts(BanditDecision)


# -- decisions and rewards -----------------------------------------------------------------------


def test_a_question_is_decided_once(live, bandit):
    first = decide(bandit, "a", "b")
    play(bandit, ["c", "d", "e"])
    assert decide(bandit, "b", "a") == first[::-1]
    assert len(live.table(BanditDecision)) == 5


def test_a_logged_decision_has_the_chances_it_was_drawn_by(live):
    bandit = make_bandit(live, "g", "m", plan(options=BanditOptions(epsilon=0.12)), encoding())
    play(bandit, [str(n) for n in range(20)])
    for row in live.table(BanditDecision).to_pylist():
        assert row["propensity"] == row["chances"][ARMS.index(row["arm"])]
        assert sum(row["chances"]) == pytest.approx(1) and min(row["chances"]) >= 0.02 - 1e-12


def test_a_reward_that_comes_twice_counts_once(live, bandit):
    [decision] = decide(bandit, "a")
    reward = Reward(decision.decision_id, 1.0)
    assert bandit.reward([reward, reward], "labels") == ["counted", "repeated"]
    assert bandit.reward([reward], "feedback") == ["repeated"]
    assert pulls(bandit) == 1 == len(live.table(BanditReward))


def test_of_two_rewards_written_at_once_the_first_counts(live, bandit):
    [decision] = decide(bandit, "a")
    bandit.reward([Reward(decision.decision_id, 1.0)], "labels")
    row = live.table(BanditReward).to_pylist()[0]
    record(live, BanditReward(**{**row, "correct": 0.0}))
    for one in (bandit, Bandit(live, bandit.setup)):
        one.refresh()
        assert one.learned.rewards.sum() == 1 == pulls(one)
    assert bandit.logged().rewards.tolist() == [1]


def test_rewards_may_be_late_or_missing_or_for_nothing(bandit):
    first, _ = decide(bandit, "a", "missing")
    play(bandit, [str(n) for n in range(5)])
    assert bandit.reward([Reward("no such decision", 1.0)], "labels") == ["unknown"]
    assert bandit.reward([Reward(first.decision_id, 1.0)], "labels") == ["counted"]
    assert pulls(bandit) == 6 and len(bandit.logged().rewards) == 6


def test_a_reward_may_come_long_after_and_from_another_process(live, bandit, monkeypatch):
    monkeypatch.setattr("tasks.paths.bandit.bandit.DECISIONS_A_COMMIT", 2)
    decisions = decide(bandit, *"abcde")
    other = open_bandit(live, "g", "m")
    assert other is not None
    outcomes = other.reward([Reward(d.decision_id, 1.0) for d in decisions], "labels")
    assert outcomes == ["counted"] * 5
    bandit.refresh()
    assert pulls(bandit) == 5 and statistics(bandit) == statistics(other)


def test_tokens_and_seconds_cost_what_the_plan_says(live):
    costly = plan(per_token=0.001, per_second=0.1)
    bandit = make_bandit(live, "g", "m", costly, encoding())
    one, two = decide(bandit, "a", "b")
    bandit.reward([Reward(one.decision_id, 1.0, 200, 2.0), Reward(two.decision_id, 0.0)], "labels")
    assert bandit.logged().rewards.tolist() == pytest.approx([0.6, 0.0])
    assert bandit.learned.rewards.sum() == pytest.approx(0.6)


@pytest.mark.parametrize(
    "values",
    [{"correct": 1.1}, {"correct": float("nan")}, {"tokens": -1}, {"seconds": float("inf")}],
)
def test_impossible_outcomes_are_refused(values):
    with pytest.raises(UsageError):
        Reward(**{"decision_id": "a", "correct": 1.0, **values})


def test_the_fallback_is_chosen_while_little_is_known(live):
    bandit = make_bandit(live, "g", "m", plan(trusted_after=60, caution=0.3), encoding())
    play(bandit, [str(n) for n in range(60)])
    rows = live.table(BanditDecision).to_pylist()
    assert all(row["cautious"] for row in rows)
    assert rows[0]["chances"] == pytest.approx([0.05, 0.75, 0.05, 0.05, 0.05, 0.05])
    assert 30 < sum(row["arm"] == "subgraph+sentences" for row in rows) < 58
    assert not decide(bandit, "after")[0].cautious


def test_feedback_reaches_the_decision_of_a_question_with_what_its_answer_took(live):
    bandit = make_bandit(live, "g", "m", plan(per_second=0.1), encoding())
    decide(bandit, "question a", "question b")
    columns = dict.fromkeys(("question", "route", "evidence", "edition"), "")
    columns |= {
        "answerable": True,
        "tokens": 5,
        "seconds": 2.0,
        "asked_at": "2026-01-01T00:00:00Z",
    }
    record(live, AnswerRecord(**columns, question_id="question a"))
    assert give_feedback(live, "question a", 1.0) == "counted"
    assert give_feedback(live, "question a", 1.0) == "repeated"
    assert give_feedback(live, "question b", 0.0) == "counted"
    assert give_feedback(live, "question z", 0.0) == "unknown"
    bandit.refresh()
    assert bandit.learned.rewards.sum() == pytest.approx(0.8)
    assert {row["source"] for row in live.table(BanditReward).to_pylist()} == {"feedback"}
    with pytest.raises(UsageError):
        give_feedback(live, "question b", 7)


# -- models, graphs, resets ----------------------------------------------------------------------


def test_each_graph_and_model_has_a_bandit_of_its_own(live):
    one = make_bandit(live, "g", "m 1", plan(), encoding())
    two = make_bandit(live, "g", "m 2", plan(), encoding())
    play(one, list("abc"))
    two.refresh()
    assert pulls(two) == 0 and one.version != two.version
    again = open_bandit(live, "g", "m 1")
    assert again is not None and pulls(again) == 3
    assert open_bandit(live, "another", "m 1") is None


def test_the_same_plan_goes_on_and_another_begins_anew(live, bandit):
    play(bandit, list("abc"))
    assert statistics(make_bandit(live, "g", "m", plan(), encoding())) == statistics(bandit)
    other = make_bandit(live, "g", "m", plan(per_token=0.1), encoding())
    assert pulls(other) == 0


def test_more_training_questions_do_not_reset_a_bandit_but_another_encoder_does(live):
    play(make_bandit(live, "g", "m", plan(), encoding()), list("abc"))
    more = ContextEncoding.fit("hash-1", vectors(50, 7), dimensions=4)
    bandit = make_bandit(live, "g", "m", plan(), more)
    assert pulls(bandit) == 3
    assert bandit.encoding.to_dict() == encoding().to_dict()
    other = ContextEncoding.fit("hash-2", vectors(50, 7), dimensions=4)
    assert pulls(make_bandit(live, "g", "m", plan(), other)) == 0


def test_a_reset_reaches_processes_that_have_the_bandit_open(live, bandit):
    decisions = decide(bandit, *"abc")
    reset = reset_bandit(live, "g", "m")
    assert bandit.reward([Reward(decisions[0].decision_id, 1.0)], "labels") == ["unknown"]
    assert bandit.version == reset.version
    play(bandit, list("abc"))
    reset.refresh()
    assert pulls(reset) == 3
    with pytest.raises(UsageError):
        reset_bandit(live, "no such graph", "m")


# -- the view of the arms ------------------------------------------------------------------------


def arms_shown(live: Journal) -> list[dict[str, Any]]:
    """Return what `select * from bandit_arms` shows beside an edition without any table."""
    with duckdb.connect(str(live.folder / "edition.duckdb")):
        pass
    query = "select * from bandit_arms"
    result = run_sql(live.folder / "edition.duckdb", live_parts(live, query), query)
    return result.to_arrow().to_pylist()


def test_the_view_of_the_arms_shows_what_they_earned(live):
    bandit = make_bandit(live, "g", "m", plan(per_second=0.1), encoding())
    first, second, *_ = decide(bandit, *"abcdefgh")
    bandit.reward(
        [Reward(first.decision_id, 1.0, 10, 2.0), Reward(second.decision_id, 0.5)], "labels"
    )
    make_bandit(live, "g", "another", plan(), encoding())
    rows = arms_shown(live)
    assert [set(row) for row in rows] == [set(BanditArm.model_fields)] * 12
    mine = [row for row in rows if row["model"] == "m"]
    assert [row["arm"] for row in mine] == list(ARMS)
    upper = np.triu_indices(bandit.encoding.dimensions)
    for arm, row in enumerate(mine):
        assert row["pulls"] == bandit.learned.pulls[arm]
        assert row["rewards"] == pytest.approx(bandit.learned.rewards[arm])
        state = json.loads(row["state"])
        if row["pulls"]:
            assert state["gram"] == pytest.approx(bandit.learned.gram[arm][upper].tolist())
            assert state["weighted"] == pytest.approx(bandit.learned.weighted[arm].tolist())
    reset_bandit(live, "g", "m")
    assert sum(row["pulls"] for row in arms_shown(live)) == 0


# -- crashes, other processes --------------------------------------------------------------------


def _play_beside(folder: Path, name: str, shared: list[str]) -> None:
    bandit = open_bandit(Journal(folder), "g", "m")
    assert bandit is not None
    for n in range(8):
        play(bandit, [f"{name} {n}", *shared], n)


def test_processes_that_write_at_once_lose_nothing(live, bandit):
    spawned = multiprocessing.get_context("spawn")
    shared = ["s", "t"]
    writers = [
        spawned.Process(target=_play_beside, args=(live.folder, name, shared)) for name in "ab"
    ]
    for writer in writers:
        writer.start()
    play(bandit, [*shared, "own"])
    for writer in writers:
        writer.join()
        assert writer.exitcode == 0
    bandit.refresh()
    replayed = Bandit(live, bandit.setup)
    assert pulls(bandit) == 2 * 8 + 2 + 1
    assert statistics(bandit) == statistics(replayed)


KILLED = """
import sys
from pathlib import Path
from test_path_bandit_state import *
bandit = open_bandit(Journal(Path(sys.argv[1])), "g", "m")
for n in range(10_000):
    [decision] = decide(bandit, f"{n}")
    print("decided", decision.decision_id, flush=True)
    bandit.reward([Reward(decision.decision_id, 1.0)], "labels")
    print("rewarded", decision.decision_id, flush=True)
"""


@pytest.mark.parametrize("lines", [1, 8, 21])
def test_a_kill_loses_nothing_that_was_acknowledged(live, lines):
    make_bandit(live, "g", "m", plan(), encoding())
    path = os.pathsep.join([str(Path(__file__).parent), *sys.path])
    process = subprocess.Popen(
        [sys.executable, "-c", KILLED, str(live.folder)],
        stdout=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONPATH": path},
    )
    assert process.stdout is not None
    seen = [process.stdout.readline().split() for _ in range(lines)]
    process.send_signal(signal.SIGKILL)
    process.wait()
    seen += [line.split() for line in process.stdout if line.endswith("\n")]
    fresh = Journal(live.folder)
    bandit = open_bandit(fresh, "g", "m")
    assert bandit is not None
    for what, decision_id in seen:
        assert bandit.decision(decision_id)
        if what == "rewarded":
            assert bandit.reward([Reward(decision_id, 1.0)], "labels") == ["repeated"]
    assert statistics(bandit) == statistics(Bandit(fresh, bandit.setup))
    play(bandit, ["0", "after"])
    assert fresh.damaged() == []


def test_a_torn_commit_is_as_if_it_had_not_been(live, bandit):
    play(bandit, list("abc"))
    before = statistics(bandit)
    with (live.folder / "commits.jsonl").open("ab") as log:
        log.write(b'{"commit": 99, "parts": [{"table": "bandit_re')
    again = open_bandit(Journal(live.folder), "g", "m")
    assert again is not None and statistics(again) == before
    play(again, ["d"])
    assert pulls(again) == 4


def test_parts_hold_one_row_per_decision(live, bandit):
    play(bandit, list("abc"))
    [part] = live.parts(BanditDecision)
    assert pq.read_metadata(live.path(part)).num_rows == 3
