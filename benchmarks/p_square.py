"""The P² algorithm (Jain and Chlamtac 1985): a quantile of all values so far from five markers."""

import math
from collections.abc import Iterable


class PSquare:
    """Estimates one quantile of a stream without keeping it; it never forgets."""

    def __init__(self, quantile: float, first: Iterable[float]) -> None:
        """Begin with at least five values."""
        values = list(first)
        self._heights = sorted(values[:5])
        self._places = [0.0, 1.0, 2.0, 3.0, 4.0]
        self._steps = [0, quantile / 2, quantile, (1 + quantile) / 2, 1]
        self._wanted = [4 * step for step in self._steps]
        for value in values[5:]:
            self.add(value)

    @property
    def value(self) -> float:
        """The quantile."""
        return self._heights[2]

    def add(self, value: float) -> None:
        """Take one more value."""
        heights, places = self._heights, self._places
        heights[0], heights[4] = min(heights[0], value), max(heights[4], value)
        cell = max(place for place in range(4) if heights[place] <= value)
        for marker in range(5):
            places[marker] += marker > cell
            self._wanted[marker] += self._steps[marker]
        for marker in (1, 2, 3):
            off = self._wanted[marker] - places[marker]
            step = int(math.copysign(1, off))
            if abs(off) >= 1 and abs(places[marker + step] - places[marker]) > 1:
                heights[marker] = self._moved(marker, step)
                places[marker] += step

    def _moved(self, marker: int, step: int) -> float:
        """Return a marker's height one place on: by a parabola, by a line if that overshoots."""
        (q0, q1, q2), (n0, n1, n2) = (
            column[marker - 1 : marker + 2] for column in (self._heights, self._places)
        )
        height = q1 + step / (n2 - n0) * (
            (n1 - n0 + step) * (q2 - q1) / (n2 - n1) + (n2 - n1 - step) * (q1 - q0) / (n1 - n0)
        )
        if q0 < height < q2:
            return height
        height, place = (q2, n2) if step > 0 else (q0, n0)
        return q1 + step * (height - q1) / (place - n1)
