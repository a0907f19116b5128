"""What a run may cost: money is set aside before a call and settled when its cost is known."""

import asyncio

from schemas.errors import AlmanacError


class BudgetSpentError(AlmanacError):
    """The next call might cost more than the run may."""


class Budget:
    """Money of one run, in the currency of the price table."""

    def __init__(self, most: float | None) -> None:
        """Allow so much in all; None allows anything."""
        self.most = most
        self.spent = 0.0
        self._reserved = 0.0
        self._flying = 0
        self._freed = asyncio.Condition()

    async def reserve(self, amount: float) -> None:
        """Set aside what a call may cost at most; wait for calls in flight if that may help.

        Raises BudgetSpentError when it does not fit and nothing in flight could make room.
        """
        if self.most is None:
            return
        async with self._freed:
            while self.spent + self._reserved + amount > self.most:
                if not self._flying:
                    raise BudgetSpentError(
                        f"The budget of {self.most:g} does not allow the next call: "
                        f"{self.spent:.4g} is spent and it may cost up to {amount:.4g}. What was "
                        "done is kept; the next refresh goes on from there."
                    )
                await self._freed.wait()
            self._reserved += amount
            self._flying += 1

    async def settle(self, reserved: float, cost: float | None) -> None:
        """Replace what was set aside by what the call cost; an unknown cost counts in full."""
        self.spent += reserved if cost is None and self.most is not None else cost or 0.0
        if self.most is None:
            return
        async with self._freed:
            self._reserved -= reserved
            self._flying -= 1
            self._freed.notify_all()
