"""The publishing checks, which a new edition must pass before it becomes current."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import orjson
import pyarrow.compute as pc
import pyarrow.parquet as pq

import schemas
from schemas.errors import UsageError
from schemas.row import Row
from schemas.settings import PublishSettings
from tasks.retrieval.texts import OF_CORPUS
from warehouse.editions import Edition

FACTS = (schemas.Triple, schemas.Description, schemas.Aspect)


def failed_checks(
    candidate: Edition,
    parent: Edition | None,
    settings: PublishSettings,
    *,
    failed_share: float,
    golden: Path,
    ask: Callable[[Edition, str], list[str]],
) -> list[str]:
    """Return the reasons, in words, why the candidate may not be published; none if it may.

    `failed_share` is the share of passages whose extraction failed. `golden` is a file of
    questions with answers, one JSON object per line, all of which `ask` must answer correctly.
    """
    return [
        *_deletions(candidate, parent, settings),
        *_shrinking(candidate, parent, settings),
        *_failures(failed_share, settings),
        *_golden_questions(candidate, golden, ask),
    ]


def _deletions(candidate: Edition, parent: Edition | None, settings: PublishSettings) -> list[str]:
    if parent is None or not parent.rows(schemas.Document):
        return []
    before, now = (e.table(schemas.Document)["document_id"] for e in (parent, candidate))
    gone = len(before) - pc.sum(pc.is_in(before, value_set=now.combine_chunks())).as_py()
    if gone <= settings.free_deletions or gone <= settings.max_delete * len(before):
        return []
    return [
        f"{gone} of {len(before)} documents would go, more than the {settings.max_delete:.0%} that "
        "--max-delete allows"
    ]


def _shrinking(candidate: Edition, parent: Edition | None, settings: PublishSettings) -> list[str]:
    """Return objections to tables of facts that shrink a lot, which hints at faulty extraction."""
    if parent is None or settings.max_delete >= 1:
        return []
    reasons = []
    for row in FACTS:
        before, now = _own_rows(parent, row), _own_rows(candidate, row)
        if before >= 100 and now < (1 - settings.max_shrink) * before:
            reasons.append(f"{row.table} would shrink from {before} to {now}")
    return reasons


def _own_rows(edition: Edition, row: type[Row]) -> int:
    """Count a table's rows from the corpus; users may remove imported graphs at will."""
    return len(pq.read_table(edition.parquet(row), columns=["graph"], filters=OF_CORPUS))


def _failures(failed_share: float, settings: PublishSettings) -> list[str]:
    if failed_share <= settings.max_rejected:
        return []
    return [f"the extraction of {failed_share:.0%} of the passages failed"]


def _golden_question(line: bytes, golden: Path) -> tuple[str, list[Any]]:
    try:
        fields = orjson.loads(line)
        return str(fields["question"]), list(fields["answers"])
    except (orjson.JSONDecodeError, KeyError, TypeError):
        raise UsageError(
            f"A line of {golden} is not of the form "
            '{"question": "...", "answers": ["..."]}; correct it and refresh again.'
        ) from None


def _golden_questions(
    candidate: Edition, golden: Path, ask: Callable[[Edition, str], list[str]]
) -> list[str]:
    if not golden.exists():
        return []
    reasons = []
    for line in golden.read_bytes().splitlines():
        question, answers = _golden_question(line, golden)
        given = {answer.casefold() for answer in ask(candidate, question)}
        if not given & {str(answer).casefold() for answer in answers}:
            reasons.append(f"the golden question {question!r} is not answered correctly")
    return reasons
