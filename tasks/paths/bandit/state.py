"""The state of a bandit, computed from its decisions and rewards in the order of commits.

It depends on nothing else, such as the time or the reader. So all processes that have read the same
commits have the same state, and a snapshot can be verified by replaying the log.
"""

import hashlib
from collections.abc import Callable, Iterable, Mapping
from dataclasses import asdict, dataclass, field
from itertools import product
from typing import Any

import numpy as np
import orjson

from schemas.bandits import BanditArm, BanditSetup, BanditSnapshot
from schemas.errors import UsageError
from tasks.paths.bandit.context import ContextEncoding
from tasks.paths.bandit.linucb import BanditOptions, Choice, LinUCB, drawn

REMEMBERED = 10_000  # latest decisions, which may still get a reward


def arm_names(extractions: Iterable[str], templates: Iterable[str]) -> tuple[str, ...]:
    """Return the names of the arms, one for each extraction and template.

    They are numbered from 0 (the paper prints one too many).
    """
    return tuple(
        f"{extraction}+{template}" for extraction, template in product(extractions, templates)
    )


@dataclass(frozen=True, slots=True)
class BanditPlan:
    """The arms of a bandit, how they are chosen, and how their rewards are computed.

    Until there are `trusted_after` rewards, the `fallback` arm is chosen with probability
    1 - `caution`, and otherwise any arm uniformly. The reward is the correctness of the answer,
    less `per_token` for each token (μ) and `per_second` for each second (ν) of its cost.
    """

    arms: tuple[str, ...]
    fallback: str
    options: BanditOptions = field(default_factory=BanditOptions)
    trusted_after: int = 30
    caution: float = 0.2
    per_token: float = 0.0
    per_second: float = 0.0

    def __post_init__(self) -> None:
        """Raise UsageError for invalid arms or numbers out of range."""
        if not self.arms or len(set(self.arms)) < len(self.arms):
            raise UsageError("A bandit needs arms with different names.")
        if self.fallback not in self.arms:
            raise UsageError(f"The fallback {self.fallback!r} is none of {', '.join(self.arms)}.")
        if not (0 <= self.caution <= 1 and self.trusted_after >= 0):
            raise UsageError("A bandit's caution is from 0 to 1, and it trusts after 0 or more.")
        if not (0 <= self.per_token < np.inf and 0 <= self.per_second < np.inf):
            raise UsageError("A token and a second cost 0 or more.")

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
        values = orjson.loads(setup.options)
        options = BanditOptions(**values.pop("options"))
        return cls(tuple(setup.arms), options=options, **values)


@dataclass(slots=True)
class _Remembered:
    """A decision that was read; `row` is None if it has to be read again from its commit."""

    commit: int
    rewarded: bool
    row: Mapping[str, Any] | None


class BanditState:
    """The state of a bandit at a position in the log."""

    def __init__(
        self, setup: BanditSetup, position: int, reread: Callable[[str, int], Mapping[str, Any]]
    ) -> None:
        """Start before the first decision.

        `reread` returns the first row of a decision in a commit.
        """
        self.setup, self.position = setup, position
        self.plan = BanditPlan.of(setup)
        self.encoding = ContextEncoding.from_dict(orjson.loads(setup.encoding))
        self.bandit = LinUCB(len(self.plan.arms), self.encoding.dimensions, self.plan.options)
        self._reread = reread
        self._remembered: dict[str, _Remembered] = {}

    # -- choosing ----------------------------------------------------------------------------

    @property
    def cautious(self) -> bool:
        """Whether there are too few rewards to trust the estimates."""
        return int(self.bandit.pulls.sum()) < self.plan.trusted_after

    def chances(self, context: np.ndarray) -> np.ndarray:
        """Return the probability that each arm is chosen (arms,)."""
        if not self.cautious:
            return self.bandit.chances(context)
        chances = np.full(len(self.plan.arms), self.plan.caution / len(self.plan.arms))
        chances[self.plan.arms.index(self.plan.fallback)] += 1 - self.plan.caution
        return chances

    def choose(self, decision_id: str, context: np.ndarray) -> Choice:
        """Return a drawn arm; the random number depends only on the decision's id."""
        seed = int.from_bytes(hashlib.sha256(decision_id.encode()).digest()[:16], "big")
        return drawn(self.chances(context), np.random.default_rng(seed))

    # -- reading the log ---------------------------------------------------------------------

    def take_decision(self, row: Mapping[str, Any], commit: int) -> None:
        """Remember a decision; of several with the same id, the first counts."""
        if row["decision_id"] in self._remembered:
            return
        self._remembered[row["decision_id"]] = _Remembered(commit, False, row)
        if len(self._remembered) > REMEMBERED:
            del self._remembered[next(iter(self._remembered))]

    def take_reward(self, row: Mapping[str, Any]) -> None:
        """Update an arm by a reward, unless its decision has one already or is not remembered."""
        if not self.is_open(row["decision_id"]):
            return
        decision = self.decision(row["decision_id"])
        reward = self.plan.reward(row["correct"], row["tokens"], row["seconds"])
        arm = self.plan.arms.index(decision["arm"])
        self.bandit.update(arm, np.array(decision["context"]), reward)
        self._remembered[row["decision_id"]].rewarded = True

    def remembers(self, decision_id: str) -> bool:
        """Return whether a decision was read and is recent enough to be remembered."""
        return decision_id in self._remembered

    def is_open(self, decision_id: str) -> bool:
        """Return whether a reward for a decision would count."""
        return self.remembers(decision_id) and not self._remembered[decision_id].rewarded

    def decision(self, decision_id: str) -> Mapping[str, Any]:
        """Return the row of a remembered decision."""
        remembered = self._remembered[decision_id]
        if remembered.row is None:
            remembered.row = self._reread(decision_id, remembered.commit)
        return remembered.row

    # -- snapshots ---------------------------------------------------------------------------

    def snapshot(self) -> tuple[BanditSnapshot, list[BanditArm]]:
        """Return the state as rows: one for the bandit, and one for each arm."""
        decisions = [[id_, one.commit, one.rewarded] for id_, one in self._remembered.items()]
        about = {"version": self.setup.version, "position": self.position}
        upper = np.triu_indices(self.bandit.dimensions)
        arms = [
            BanditArm(
                **about,
                graph=self.setup.graph,
                model=self.setup.model,
                arm=name,
                pulls=int(self.bandit.pulls[arm]),
                rewards=float(self.bandit.rewards[arm]),
                state=orjson.dumps(
                    {
                        "gram": self.bandit.gram[arm][upper].tolist(),  # the upper triangle
                        "weighted": self.bandit.weighted[arm].tolist(),
                    }
                ).decode(),
            )
            for arm, name in enumerate(self.plan.arms)
        ]
        return BanditSnapshot(**about, decisions=orjson.dumps(decisions).decode()), arms

    def restore(self, snapshot: Mapping[str, Any], arms: Iterable[Mapping[str, Any]]) -> None:
        """Restore the state from a snapshot; raises UsageError if it belongs to another bandit."""
        by_name = {row["arm"]: row for row in arms if row["version"] == self.setup.version}
        if set(by_name) != set(self.plan.arms) or snapshot["version"] != self.setup.version:
            raise UsageError("The snapshot belongs to another bandit.")
        rows = [by_name[name] for name in self.plan.arms]
        states = [orjson.loads(row["state"]) for row in rows]
        upper = np.triu_indices(self.bandit.dimensions)
        gram = np.zeros_like(self.bandit.gram)
        for arm, state in enumerate(states):
            gram[arm][upper] = state["gram"]
            gram[arm].T[upper] = state["gram"]
        self.bandit.restore(
            gram,
            np.array([state["weighted"] for state in states], float),
            np.array([row["pulls"] for row in rows], np.int64),
            np.array([row["rewards"] for row in rows], float),
        )
        self._remembered = {
            id_: _Remembered(commit, rewarded, None)
            for id_, commit, rewarded in orjson.loads(snapshot["decisions"])
        }
        self.position = snapshot["position"]
