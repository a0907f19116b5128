"""Which task a question belongs to."""

from collections.abc import Sequence

import numpy as np
import pytest

from schemas.errors import AlmanacError, UsageError
from tasks.gates.calibrated import CalibratedGate, TaskRegistry
from tasks.gates.gate import make_gate
from tasks.models.encoders.choice import EncoderChoice
from tasks.models.encoders.load import Encoder


class Written:
    """An encoder of texts that are two numbers; it counts how often it is asked."""

    dimensions = 2

    def __init__(self, name: str = "a", factor: float = 1.0) -> None:
        self.id, self._factor, self.asked = f"{name}-1", factor, 0

    def encode(self, texts: list[str]) -> np.ndarray:
        self.asked += 1
        rows = [[float(part) * self._factor for part in text.split(sep=" ")] for text in texts]
        return np.array(rows, np.float32).reshape(-1, 2)


def gate(
    task: str, at: Sequence[Sequence[float]], reach: float, encoder: str = "a", kind: str = "thrust"
) -> CalibratedGate:
    return CalibratedGate(
        task=task,
        gate=make_gate(kind),
        choice=EncoderChoice(encoder),
        encoder_id=f"{encoder}-1",
        centroids=np.array(at, float).reshape(-1, 2),
        reach=reach,
        seed_scores=np.zeros(0),
        calibration="c",
    )


def registry(*gates: CalibratedGate, **encoders: Encoder) -> TaskRegistry:
    there = encoders or {"a": Written()}
    return TaskRegistry({one.task: one for one in gates}, lambda choice: there[choice.name])


def tasks(of: TaskRegistry, *questions: str) -> list[str | None]:
    return [placed.gate.task if placed.gate else None for placed in of.place(questions)]


def test_a_question_belongs_to_the_nearest_task_if_that_reaches_so_far():
    known = registry(gate("near", [[0, 0]], 1), gate("wide", [[4, 0]], 10))
    assert tasks(known, "0 0", "1 0", "2.5 0", "13 0") == ["near", "near", "wide", "wide"]
    # -1.5 is in reach of the wide task only, but nearer to the other, which knows no such question.
    assert tasks(known, "-1.5 0", "15 0") == [None, None]
    [placed] = known.place(["0.5 0"])
    assert placed.apart == pytest.approx(0.5)


def test_the_nearest_centroid_of_a_task_counts():
    known = registry(gate("two", [[0, 0], [10, 0]], 1))
    assert tasks(known, "0.5 0", "10 0.5", "5 0") == ["two", "two", None]


def test_a_task_that_is_named_is_taken_without_measuring():
    known = registry(gate("near", [[0, 0]], 1), gate("words", [[50, 0]], 1, kind="random"))
    [placed, free] = known.place(["99 0", "99 0"], ["near", None])
    assert free.gate is None
    assert placed.gate and placed.gate.task == "near" and placed.vector is not None
    assert placed.vector.tolist() == [99, 0]
    [unread] = known.place(["these are words"], ["words"])
    assert unread.gate and unread.gate.task == "words" and unread.vector is None


def test_an_unknown_task_is_a_wrong_call_that_lists_the_others():
    with pytest.raises(UsageError, match="films.*The tasks: far, near"):
        registry(gate("near", [[0, 0]], 1), gate("far", [[9, 9]], 1)).place(["0 0"], ["films"])


def test_each_task_is_asked_with_its_own_encoder_once():
    here, there = Written("here"), Written("there", 100)
    known = registry(
        gate("one", [[0, 0]], 1, "here"),
        gate("two", [[100, 0]], 1, "there"),
        gate("three", [[0, 3]], 1, "here"),
        here=here,
        there=there,
    )
    assert tasks(known, "0 0", "1 0", "0 3", "9 9") == ["one", "two", "three", None]
    assert (here.asked, there.asked) == (1, 1)
    assert tasks(known) == []


def test_seeds_without_vectors_or_all_alike_reach_nowhere():
    blind = registry(gate("blind", [], float("nan")), gate("alike", [[1, 1]], 0.0))
    assert tasks(blind, "0 0", "1 1") == [None, "alike"]
    assert tasks(registry(gate("odd", [[1, 1]], float("nan"))), "1 1") == [None]


def test_another_encoder_than_the_calibrations_is_told():
    changed = registry(gate("films", [[0, 0]], 1, "a"), a=Written("b"))
    with pytest.raises(AlmanacError, match="a-1, which now is b-1.*--task films"):
        changed.place(["0 0"])
