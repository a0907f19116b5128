"""The bandits of a home: a fold over decisions and rewards in the live records.

Processes append decisions and rewards, read those of others, and never overwrite any, so no reward
is lost. What a bandit knows of its arms is the sum over the rewards of its version: each updates
the arm that was chosen, in the context in which it was. A bandit belongs to one graph and one
answering model. Another plan or encoder, or a reset, begins a new version, for which earlier
records do not count.
"""

import hashlib
import threading
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from itertools import islice, product
from typing import Annotated, Any, Literal

import numpy as np
import orjson
import pyarrow.compute as pc
from pydantic import Field
from pydantic.dataclasses import dataclass as validated

from schemas.bandits import BanditDecision, BanditReward, BanditSetup
from schemas.errors import UsageError
from schemas.operations import AnswerRecord
from schemas.row import Row
from tasks.paths.bandit.context import AskedQuestion, ContextEncoding
from tasks.paths.bandit.linucb import BanditOptions, LinUCB, Share, drawn
from tasks.paths.bandit.off_policy import LoggedDecisions
from warehouse.durable import checksum
from warehouse.journal import Journal
from warehouse.live import latest, record, record_all

DECISIONS_A_COMMIT = 1_000  # and the latest that are kept in memory
Cost = Annotated[float, Field(ge=0, allow_inf_nan=False)]
Source = Literal["labels", "feedback"]
Outcome = Literal["counted", "repeated", "unknown"]


def arm_names(extractions: Iterable[str], templates: Iterable[str]) -> tuple[str, ...]:
    """Return the names of the arms, one for each extraction and template.

    They are numbered from 0 (the paper prints one too many).
    """
    return tuple(
        f"{extraction}+{template}" for extraction, template in product(extractions, templates)
    )


@validated(frozen=True, slots=True)
class BanditPlan:
    """The arms of a bandit, how they are chosen, and how their rewards are computed.

    Until there are `trusted_after` rewards, the `fallback` arm is chosen with probability
    1 - `caution`, and otherwise any arm uniformly. The reward is the correctness of the answer,
    less `per_token` for each token (μ) and `per_second` for each second (ν) of its cost.
    """

    arms: tuple[str, ...]
    fallback: str
    options: BanditOptions = BanditOptions()
    trusted_after: Annotated[int, Field(ge=0)] = 30
    caution: Share = 0.2
    per_token: Cost = 0.0
    per_second: Cost = 0.0

    def __post_init__(self) -> None:
        """Raise UsageError for invalid arms."""
        if not self.arms or len(set(self.arms)) < len(self.arms):
            raise UsageError("A bandit needs arms with different names.")
        if self.fallback not in self.arms:
            raise UsageError(f"The fallback {self.fallback!r} is none of {', '.join(self.arms)}.")

    def reward(self, correct: float, tokens: int | None, seconds: float | None) -> float:
        """Return the reward of an answer; an unknown cost counts as 0."""
        return correct - self.per_token * (tokens or 0) - self.per_second * (seconds or 0.0)

    def to_json(self) -> str:
        """Return everything but the arms as JSON."""
        values = {name: value for name, value in asdict(self).items() if name != "arms"}
        return orjson.dumps(values, option=orjson.OPT_SORT_KEYS).decode()

    @classmethod
    def of(cls, setup: BanditSetup) -> "BanditPlan":
        """Return the plan of a journalled bandit."""
        return cls(tuple(setup.arms), **orjson.loads(setup.options))


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

    def __init__(self, live: Journal, setup: BanditSetup) -> None:
        self._live, self._lock, self._position = live, threading.RLock(), 0
        self._begin(setup)
        self.refresh()

    def _begin(self, setup: BanditSetup) -> None:
        self.setup, self.plan = setup, BanditPlan.of(setup)
        self.encoding = ContextEncoding.from_dict(orjson.loads(setup.encoding))
        self.learned = LinUCB(len(self.plan.arms), self.encoding.dimensions, self.plan.options)
        self._rewarded: set[str] = set()
        self._latest: dict[str, BanditDecision] = {}

    @property
    def version(self) -> str:
        """The version of the bandit, which changes at each reset."""
        return self.setup.version

    @property
    def cautious(self) -> bool:
        """Whether there are too few rewards to trust the estimates."""
        return int(self.learned.pulls.sum()) < self.plan.trusted_after

    def refresh(self) -> None:
        """Count the rewards that any process has recorded since the last call; notice a reset."""
        with self._lock:
            after, self._position = self._position, self._live.position
            upto = self._position
            newest = _setup(self._live, self.setup.graph, self.setup.model, after, upto)
            if newest is not None and newest.version != self.version:
                self._begin(newest)
            rewards = _rows(self._live, BanditReward, "version", self.version, after, upto)
            for row in rewards:
                self._count(row)

    def _count(self, row: Mapping[str, Any]) -> None:
        """Update an arm by a reward, unless its decision has one."""
        if row["decision_id"] in self._rewarded:
            return
        reward = self.plan.reward(row["correct"], row["tokens"], row["seconds"])
        arm = self.plan.arms.index(row["arm"])
        self.learned.update(arm, np.array(row["context"]), reward)
        self._rewarded.add(row["decision_id"])

    def decide(self, questions: Mapping[str, AskedQuestion]) -> dict[str, BanditDecision]:
        """Choose an arm for each question, by its id; a question that has one keeps it.

        Up to a thousand decisions are one commit. Raises UsageError if the vector of a new question
        does not have the length of the bandit's encoder or is not finite.
        """
        made: dict[str, BanditDecision] = {}
        waiting = iter(questions.items())
        with self._lock:
            while some := dict(islice(waiting, DECISIONS_A_COMMIT)):
                made |= self._decide(some)
        return made

    def _decide(self, questions: Mapping[str, AskedQuestion]) -> dict[str, BanditDecision]:
        self.refresh()
        ids = {question: self.decision_id(question) for question in questions}
        made = {q: self._latest[id_] for q, id_ in ids.items() if id_ in self._latest}
        fresh = [question for question in questions if question not in made]
        contexts = self.encoding.contexts([questions[question] for question in fresh])
        for question, context in zip(fresh, contexts, strict=True):
            made[question] = self._decided(ids[question], question, context)
        record_all(self._live, {BanditDecision: [made[question] for question in fresh]})
        self._latest |= {made[question].decision_id: made[question] for question in fresh}
        while len(self._latest) > DECISIONS_A_COMMIT:
            del self._latest[next(iter(self._latest))]
        return made

    def _decided(self, decision_id: str, question_id: str, context: np.ndarray) -> BanditDecision:
        """Return a drawn arm; the random number depends only on the decision's id."""
        seed = int.from_bytes(hashlib.sha256(decision_id.encode()).digest()[:16], "big")
        chances = self.chances(context)
        choice = drawn(chances, np.random.default_rng(seed))
        return BanditDecision(
            decision_id=decision_id,
            version=self.version,
            question_id=question_id,
            arm=self.plan.arms[choice],
            propensity=float(chances[choice]),
            chances=chances.tolist(),
            context=context.tolist(),
            cautious=self.cautious,
            decided_at=datetime.now(UTC),
        )

    def chances(self, context: np.ndarray) -> np.ndarray:
        """Return the probability that each arm is chosen in a context (arms,)."""
        if not self.cautious:
            return self.learned.chances(context)
        chances = np.full(len(self.plan.arms), self.plan.caution / len(self.plan.arms))
        chances[self.plan.arms.index(self.plan.fallback)] += 1 - self.plan.caution
        return chances

    def reward(
        self, rewards: Sequence[Reward], source: Source, *known: BanditDecision
    ) -> list[Outcome]:
        """Record rewards of decisions, in one commit; a decision is rewarded only once.

        The outcome is "unknown" if the decision does not exist or was made before the last reset.
        Decisions that are `known` need not be looked up in the live records.
        """
        with self._lock:
            self.refresh()
            self._latest |= {one.decision_id: one for one in known if one.version == self.version}
            version = self.version
            outcomes: list[Outcome] = []
            rows: dict[str, BanditReward] = {}
            for reward in rewards:
                decision = self.decision(reward.decision_id)
                if decision is None:
                    outcomes.append("unknown")
                elif reward.decision_id in self._rewarded | rows.keys():
                    outcomes.append("repeated")
                else:
                    outcomes.append("counted")
                    rows[reward.decision_id] = BanditReward(
                        **asdict(reward),
                        version=version,
                        arm=decision.arm,
                        context=decision.context,
                        source=source,
                        rewarded_at=datetime.now(UTC),
                    )
            record_all(self._live, {BanditReward: rows.values()})
            self.refresh()
            return outcomes if self.version == version else ["unknown"] * len(rewards)

    def decision_id(self, question_id: str) -> str:
        """Return the id of the decision for a question."""
        key = f"{self.version} {question_id}"
        return hashlib.sha256(key.encode(errors="replace")).hexdigest()[:32]

    def decision(self, decision_id: str) -> BanditDecision | None:
        """Return a decision of this version by any process; None if there is none."""
        if decision_id in self._latest:
            return self._latest[decision_id]
        row = _last(self._live, BanditDecision, "decision_id", decision_id)
        return BanditDecision(**row) if row and row["version"] == self.version else None

    def logged(self) -> LoggedDecisions:
        """Return all rewarded decisions of this version."""
        first: dict[str, Mapping[str, Any]] = {}
        rewards: dict[str, float] = {}
        for row in _rows(self._live, BanditDecision, "version", self.version):
            first.setdefault(row["decision_id"], row)
        for row in _rows(self._live, BanditReward, "version", self.version):
            worth = self.plan.reward(row["correct"], row["tokens"], row["seconds"])
            rewards.setdefault(row["decision_id"], worth)
        rows = [row for id_, row in first.items() if id_ in rewards]
        return LoggedDecisions(
            np.array([row["context"] for row in rows]).reshape(-1, self.encoding.dimensions),
            np.array([self.plan.arms.index(row["arm"]) for row in rows], np.int64),
            np.array([row["propensity"] for row in rows]),
            np.array([row["chances"] for row in rows]).reshape(-1, len(self.plan.arms)),
            np.array([rewards[row["decision_id"]] for row in rows]),
        )


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
    if last is not None and BanditPlan.of(last) == plan:
        bandit = Bandit(live, last)
        if bandit.encoding.encoder == encoding.encoder:
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
            f"{known}. `almanac train-paths QUESTIONS --graph NAME` makes one, unless it "
            "says why not."
        )
    return bandit


def reset_bandit(live: Journal, graph: str, model: str) -> Bandit:
    """Forget what the bandit of a graph and a model has learned; its records stay.

    Raises UsageError if there is none.
    """
    setup = bandit_of(live, graph, model).setup
    return _made(live, setup.model_dump(exclude={"version", "made_at"}))


def give_feedback(live: Journal, question_id: str, correct: float) -> Outcome:
    """Reward the last decision for a question by the asker's feedback.

    The cost of the answer is taken from its record. Raises UsageError if `correct` is not from 0
    to 1.
    """
    decision = _last(live, BanditDecision, "question_id", question_id)
    answer = _last(live, AnswerRecord, "question_id", question_id)
    cost = (answer["tokens"], answer["seconds"]) if answer else (None, None)
    reward = Reward(decision["decision_id"] if decision else "", correct, *cost)
    if decision is None:
        return "unknown"
    setup = next(_rows(live, BanditSetup, "version", decision["version"]))
    bandit = bandit_of(live, setup["graph"], setup["model"])
    return bandit.reward([reward], "feedback", BanditDecision(**decision))[0]


def _made(live: Journal, values: dict[str, Any]) -> Bandit:
    version = checksum({**values, "position": live.position})
    setup = BanditSetup(**values, version=version, made_at=datetime.now(UTC))
    record(live, setup)
    return Bandit(live, setup)


def _setup(
    live: Journal, graph: str, model: str, after: int = 0, upto: int | None = None
) -> BanditSetup | None:
    """Return the last setup of a graph and a model in the commits of (after, upto]."""
    rows = _rows(live, BanditSetup, "graph", graph, after, upto)
    own = [row for row in rows if row["model"] == model]
    return BanditSetup(**own[-1]) if own else None


def _rows(
    live: Journal, row: type[Row], column: str, value: str, after: int = 0, upto: int | None = None
) -> Iterator[dict[str, Any]]:
    """Yield the rows of a table that have a value in a column, in the order of their commits."""
    for table in live.tables(row, after=after, upto=upto):
        yield from table.filter(pc.equal(table[column], value)).to_pylist()


def _last(live: Journal, row: type[Row], column: str, value: str) -> dict[str, Any] | None:
    """Return the last row of a table with a value in a column."""
    for table in live.tables(row, newest_first=True):
        if found := table.filter(pc.equal(table[column], value)).to_pylist():
            return dict(found[-1])
    return None
