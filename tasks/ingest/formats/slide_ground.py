"""What lies behind the words of a slide: words in the colour of its ground alone are not seen."""

from collections.abc import Sequence
from typing import NamedTuple


class Box(NamedTuple):
    """The edges of a shape, or of a slide, in any one unit."""

    left: float
    top: float
    right: float
    bottom: float

    def meets(self, other: "Box") -> bool:
        """Tell whether some of a box lies on another."""
        across = self.left < other.right and other.left < self.right
        return across and self.top < other.bottom and other.top < self.bottom


class Ground(NamedTuple):
    """The colour of a slide as RRGGBB, empty if it may be any, and what is painted on it.

    Of what is painted, some may lie at an unknown place.
    """

    colour: str
    slide: Box | None = None
    painted: Sequence[Box | None] = ()

    def lies_beside(self, box: Box | None) -> bool:
        """Tell whether a shape lies wholly beside the slide; one without a place lies on it."""
        return box is not None and self.slide is not None and not box.meets(self.slide)

    def colour_behind(self, box: Box | None) -> str:
        """Return the one colour that lies behind a shape, empty if it may be any."""
        covered = any(box is None or other is None or other.meets(box) for other in self.painted)
        return "" if covered else self.colour
