"""What answers may cost: tokens per question, tokens and money per day."""

from datetime import UTC, datetime

import pyarrow.compute as pc

from schemas.answers import Usage
from schemas.operations import AnswerRecord
from schemas.settings import AskSettings
from warehouse.journal import Journal


class Spending:
    """Counts what questions take, together with those that were answered earlier on the day."""

    def __init__(self, live: Journal, limits: AskSettings) -> None:
        """Read the records of answers, if a day is limited."""
        self._limits = limits
        self._tokens, self._cost = 0, 0.0
        self.warnings: list[str] = []
        if limits.day_tokens is not None or limits.day_cost is not None:
            self._tokens, self._cost = _spent_today(live)

    def add(self, usage: Usage) -> None:
        """Count what a question took."""
        self._tokens += usage.tokens_in + usage.tokens_out
        self._cost += usage.cost

    def may_ask(self, usage: Usage) -> bool:
        """Return whether a question that took so much may take more; a full day is told once."""
        of_question = self._limits.question_tokens
        if of_question is not None and usage.tokens_in + usage.tokens_out >= of_question:
            return False
        for setting, spent in (("day_tokens", self._tokens), ("day_cost", self._cost)):
            limit = getattr(self._limits, setting)
            if limit is not None and spent >= limit:
                self.warnings = self.warnings or [
                    f"Answers have taken {spent:g} of the day's {limit:g} ({setting} under [ask]), "
                    "so the embedded reader answered instead of the model."
                ]
                return False
        return True


def _spent_today(live: Journal) -> tuple[int, float]:
    """Return the tokens and the money of the answers since midnight (UTC)."""
    table = live.table(AnswerRecord)
    midnight = datetime.now(UTC).replace(hour=0, minute=0, second=0, microsecond=0)
    today = table.filter(pc.greater_equal(table["asked_at"], midnight))
    tokens, cost = pc.sum(today["tokens"]).as_py(), pc.sum(today["cost"]).as_py()
    return tokens or 0, cost or 0.0
