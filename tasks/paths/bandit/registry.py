"""The bandits of a home: decisions and rewards in the live records, from any number of processes.

Processes append rows and read the rows of others but never overwrite any, so no update is lost, and
a kill loses at most decisions that no caller has received. A bandit belongs to one graph and one
version of one answering model; another model starts with a new bandit.
"""

import hashlib
import threading
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, Literal

import numpy as np
import orjson
import pyarrow.compute as pc

from schemas.bandits import BanditArm, BanditDecision, BanditReward, BanditSetup, BanditSnapshot
from schemas.errors import DamageError, UsageError
from schemas.operations import AnswerRecord
from schemas.row import Row
from tasks.paths.bandit.context import AskedQuestion, ContextEncoding
from tasks.paths.bandit.off_policy import LoggedDecisions
from tasks.paths.bandit.state import BanditPlan, BanditState
from warehouse.durable import checksum
from warehouse.journal import Journal, Part
from warehouse.live import latest, record, record_all

SNAPSHOT_AFTER = 64  # parts read since the last snapshot
TOGETHER = 1_000  # decisions per commit, far fewer than are remembered
_READ: tuple[type[Row], ...] = (BanditSetup, BanditDecision, BanditReward)  # in this order
Source = Literal["labels", "feedback"]
Outcome = Literal["counted", "repeated", "unknown"]


@dataclass(frozen=True, slots=True)
class Request:
    """A question that needs an arm; requests with the same `key` get the same decision."""

    key: str
    question_id: str
    question: AskedQuestion


@dataclass(frozen=True, slots=True)
class Decision:
    """A journalled decision; `cautious` if there were too few rewards to trust the estimates."""

    decision_id: str
    arm: str
    propensity: float
    cautious: bool


@dataclass(frozen=True, slots=True)
class Reward:
    """The outcome of a decision: correctness, 0 to 1, and the answer's cost if it is known."""

    decision_id: str
    correct: float
    tokens: int | None = None
    seconds: float | None = None

    def __post_init__(self) -> None:
        """Raise UsageError for numbers out of range."""
        costs = (self.tokens or 0, self.seconds or 0.0)
        if not 0 <= self.correct <= 1 or not all(0 <= cost < float("inf") for cost in costs):
            raise UsageError(f"This cannot be what came of a decision: {self}.")


class Bandit:
    """A bandit whose decisions and rewards are in the live records."""

    def __init__(self, live: Journal, setup: BanditSetup, *, replay: bool = False) -> None:
        """Read the state from the last snapshot on, or with `replay` from the first decision on."""
        self._live, self._lock = live, threading.RLock()
        self._begin(setup)
        if not replay:
            self._restore()
        self.refresh()

    @property
    def version(self) -> str:
        """The version of the bandit, which changes at each reset."""
        return self.state.setup.version

    def refresh(self) -> None:
        """Read the rows that any process has appended since the last call."""
        with self._lock:
            end = self._live.position
            parts = [
                (part.commit, place, part)
                for place, row in enumerate(_READ)
                for part in self._live.parts(row, after=self.state.position, upto=end)
            ]
            for commit, place, part in sorted(parts, key=lambda entry: entry[:2]):
                self._take(_READ[place], commit, part)
            self.state.position = end

    def decide(self, requests: Sequence[Request]) -> list[Decision]:
        """Choose an arm for each request; earlier decisions are not changed.

        Up to a thousand decisions are one commit. Raises UsageError if the vector of a new question
        does not have the length of the bandit's encoder or is not finite.
        """
        with self._lock:
            return [
                decision
                for start in range(0, len(requests), TOGETHER)
                for decision in self._decide(requests[start : start + TOGETHER])
            ]

    def reward(self, rewards: Sequence[Reward], source: Source) -> list[Outcome]:
        """Record rewards of decisions, in one commit; a decision is rewarded only once.

        The outcome is "unknown" if the decision does not exist, was made before the last reset, or
        is too old to be remembered.
        """
        with self._lock:
            self.refresh()
            version = self.version
            outcomes: list[Outcome] = []
            rows: dict[str, BanditReward] = {}
            for reward in rewards:
                if not self.state.remembers(reward.decision_id):
                    outcomes.append("unknown")
                elif reward.decision_id in rows or not self.state.is_open(reward.decision_id):
                    outcomes.append("repeated")
                else:
                    outcomes.append("counted")
                    rows[reward.decision_id] = BanditReward(
                        decision_id=reward.decision_id,
                        version=self.version,
                        correct=reward.correct,
                        tokens=reward.tokens,
                        seconds=reward.seconds,
                        source=source,
                        rewarded_at=datetime.now(UTC),
                    )
            record_all(self._live, {BanditReward: rows.values()})
            self.refresh()
            self._snapshot_if_due()
            return outcomes if self.version == version else ["unknown"] * len(rewards)

    def decision_id(self, key: str) -> str:
        """Return the id of the decision for a key."""
        return hashlib.sha256(f"{self.version} {key}".encode(errors="replace")).hexdigest()[:32]

    def snapshot(self) -> None:
        """Write a snapshot of the state, so that less has to be read the next time."""
        with self._lock:
            snapshot, arms = self.state.snapshot()
            record(self._live, snapshot, *arms)
            self._unsaved = 0

    def logged(self) -> LoggedDecisions:
        """Return all rewarded decisions of this version."""
        plan = self.state.plan
        first: dict[str, Mapping[str, Any]] = {}
        rewards: dict[str, float] = {}
        for _, row in _rows(self._live, BanditDecision, "version", self.version):
            first.setdefault(row["decision_id"], row)
        for _, row in _rows(self._live, BanditReward, "version", self.version):
            worth = plan.reward(row["correct"], row["tokens"], row["seconds"])
            rewards.setdefault(row["decision_id"], worth)
        rows = [row for id_, row in first.items() if id_ in rewards]
        wide, arms = self.state.encoding.dimensions, len(plan.arms)
        return LoggedDecisions(
            np.array([row["context"] for row in rows]).reshape(-1, wide),
            np.array([plan.arms.index(row["arm"]) for row in rows], np.int64),
            np.array([row["propensity"] for row in rows]),
            np.array([row["chances"] for row in rows]).reshape(-1, arms),
            np.array([rewards[row["decision_id"]] for row in rows]),
        )

    # -- reading -----------------------------------------------------------------------------

    def _begin(self, setup: BanditSetup) -> None:
        """Set the state to the one before the first decision of a version."""
        made = next(_rows(self._live, BanditSetup, "version", setup.version))[0]
        self.state = BanditState(setup, made, self._reread)
        self._unsaved = 0

    def _restore(self) -> None:
        last = _last(self._live, BanditSnapshot, "version", self.version)
        if last is not None:
            commit, snapshot = last
            [part] = self._live.parts(BanditArm, after=commit - 1, upto=commit)
            self.state.restore(snapshot, self._live.part_table(BanditArm, part).to_pylist())

    def _take(self, row: type[Row], commit: int, part: Part) -> None:
        """Update the state from the next part."""
        self._unsaved += 1
        table = self._live.part_table(row, part)
        if row is BanditSetup:
            setup = self.state.setup
            for values in table.to_pylist():
                same = (values["graph"], values["model"]) == (setup.graph, setup.model)
                if same and values["version"] != self.version:
                    self._begin(BanditSetup(**values))
            return
        for values in table.filter(pc.equal(table["version"], self.version)).to_pylist():
            if row is BanditDecision:
                self.state.take_decision(values, commit)
            else:
                self.state.take_reward(values)

    def _reread(self, decision_id: str, commit: int) -> Mapping[str, Any]:
        for part in self._live.parts(BanditDecision, after=commit - 1, upto=commit):
            for values in self._live.part_table(BanditDecision, part).to_pylist():
                if values["decision_id"] == decision_id:
                    return dict(values)
        raise DamageError(
            f"The decision {decision_id} is not in the live records' {commit}th commit."
        )

    def _decide(self, requests: Sequence[Request]) -> list[Decision]:
        self.refresh()
        version = self.version
        fresh: dict[str, Request] = {}
        for request in requests:
            decision_id = self.decision_id(request.key)
            if not self.state.remembers(decision_id):
                fresh.setdefault(decision_id, request)
        contexts = self.state.encoding.contexts([one.question for one in fresh.values()])
        rows = [
            self._decided(decision_id, request, context)
            for (decision_id, request), context in zip(fresh.items(), contexts, strict=True)
        ]
        record_all(self._live, {BanditDecision: rows})
        self.refresh()  # if two processes decide on one key, the first commit counts
        if self.version != version:  # somebody has reset the bandit meanwhile
            return self._decide(requests)
        self._snapshot_if_due()
        return [self._decision(self.decision_id(request.key)) for request in requests]

    def _decided(self, decision_id: str, request: Request, context: np.ndarray) -> BanditDecision:
        choice = self.state.choose(decision_id, context)
        return BanditDecision(
            decision_id=decision_id,
            version=self.version,
            question_id=request.question_id,
            arm=self.state.plan.arms[choice.arm],
            propensity=choice.propensity,
            chances=choice.chances.tolist(),
            context=context.tolist(),
            cautious=self.state.cautious,
            decided_at=datetime.now(UTC),
        )

    def _decision(self, decision_id: str) -> Decision:
        row = self.state.decision(decision_id)
        return Decision(decision_id, row["arm"], row["propensity"], row["cautious"])

    def _snapshot_if_due(self) -> None:
        if self._unsaved >= SNAPSHOT_AFTER:
            self.snapshot()


def make_bandit(
    live: Journal, graph: str, model: str, plan: BanditPlan, encoding: ContextEncoding
) -> Bandit:
    """Return the bandit of a graph and a model, made if needed.

    An existing bandit continues, with its own encoding, if it was made with this plan and for the
    same encoder. Otherwise a new one starts.
    """
    values = {
        "graph": graph,
        "model": model,
        "arms": list(plan.arms),
        "options": plan.to_json(),
    }
    last = _setup(live, graph, model)
    if last is not None and values.items() <= last.model_dump().items():
        bandit = Bandit(live, last)
        if bandit.state.encoding.encoder == encoding.encoder:
            return bandit
    saved = orjson.dumps(encoding.to_dict(), option=orjson.OPT_SORT_KEYS).decode()
    return _made(live, {**values, "encoding": saved})


def open_bandit(live: Journal, graph: str, model: str) -> Bandit | None:
    """Return the bandit of a graph and a model; None if there is none."""
    setup = _setup(live, graph, model)
    return None if setup is None else Bandit(live, setup)


def bandit_of(live: Journal, graph: str, model: str) -> Bandit:
    """Return the bandit of a graph and a model; raises UsageError, listing all, without one."""
    bandit = open_bandit(live, graph, model)
    if bandit is None:
        rows = latest(live, BanditSetup).to_pylist()
        known = ", ".join(f"{row['graph']!r} with {row['model']!r}" for row in rows) or "none"
        raise UsageError(
            f"No bandit has learned for the graph {graph!r} and the model {model!r}. The bandits: "
            f"{known}. `almanac train-paths QUESTIONS --graph NAME` makes one."
        )
    return bandit


def reset_bandit(live: Journal, graph: str, model: str) -> Bandit:
    """Forget what the bandit of a graph and a model has learned; its records stay.

    Raises UsageError if there is none.
    """
    setup = bandit_of(live, graph, model).state.setup
    return _made(live, setup.model_dump(exclude={"version", "made_at"}))


def give_feedback(live: Journal, question_id: str, correct: float) -> Outcome:
    """Reward the last decision for a question by the asker's feedback.

    The cost of the answer is taken from its record. Raises UsageError if `correct` is not from 0
    to 1.
    """
    reward = Reward("", correct)
    last = _last(live, BanditDecision, "question_id", question_id)
    if last is None:
        return "unknown"
    decision = last[1]
    setup = next(_rows(live, BanditSetup, "version", decision["version"]))[1]
    bandit = open_bandit(live, setup["graph"], setup["model"])
    answer = _last(live, AnswerRecord, "question_id", question_id)
    cost = (answer[1]["tokens"], answer[1]["seconds"]) if answer else (None, None)
    if bandit is None:
        return "unknown"
    return bandit.reward([Reward(decision["decision_id"], reward.correct, *cost)], "feedback")[0]


def _made(live: Journal, values: dict[str, Any]) -> Bandit:
    version = checksum({**values, "position": live.position})
    setup = BanditSetup(**values, version=version, made_at=datetime.now(UTC))
    record(live, setup)
    return Bandit(live, setup)


def _setup(live: Journal, graph: str, model: str) -> BanditSetup | None:
    """Return the last setup of a graph and a model."""
    rows = [row for _, row in _rows(live, BanditSetup, "graph", graph) if row["model"] == model]
    return BanditSetup(**rows[-1]) if rows else None


def _rows(
    live: Journal, row: type[Row], column: str, value: str, *, backwards: bool = False
) -> Iterator[tuple[int, dict[str, Any]]]:
    """Yield the rows of a table that have a value in a column, each with its commit."""
    parts = live.parts(row)
    for part in reversed(parts) if backwards else parts:
        table = live.part_table(row, part)
        found = table.filter(pc.equal(table[column], value)).to_pylist()
        for values in reversed(found) if backwards else found:
            yield part.commit, values


def _last(
    live: Journal, row: type[Row], column: str, value: str
) -> tuple[int, dict[str, Any]] | None:
    return next(_rows(live, row, column, value, backwards=True), None)
