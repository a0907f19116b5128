"""The required outcome of each fault of an endpoint, as checks of a run's records."""

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import schemas
from benchmarks.crash import TIMES
from schemas.observations import EXTRACTED, Extraction, ModelReply
from schemas.operations import Rejection
from tasks.run import RunReport
from tests.mock_endpoint import Call
from warehouse.home import Home

DEADLINE = 2.0
SOON = 5.0  # seconds, within which a run must stop that cannot go on
# Their calls are paid for, but nobody tells the client how much.
UNTOLD = {
    *("body_usage_missing", "body_usage_negative", "late_duplicate", "body_million_triples"),
    *("never_answers", "slow_loris", "slow_headers", "gzip_bomb", "reset_mid_body", "half_close"),
    *(
        "body_huge_10mb",
        "content_length_long",
        "content_length_short",
        "chunked_no_end",
        "gzip_broken",
    ),
    *("reset_before", "refused", "body_sse_when_not_asked"),
}


@dataclass(frozen=True)
class Seen:
    """The records of a run with a fault: its home, its report, and the endpoint's ledger."""

    fault: str
    home: Home
    run: RunReport | None
    error: str
    seconds: float
    calls: list[Call]
    noted: list[dict[str, Any]]
    first: dict[str, int] | None  # what differed from the clean tables, before it was healed
    calls_after: int

    @property
    def requests(self) -> int:
        """Return how many different requests arrived."""
        return len({call.first_sha for call in self.calls})

    @property
    def failed(self) -> int:
        """Return how many passages were rejected."""
        return self.run.counts["extraction"].get("failed", 0) if self.run else 0

    def different(self) -> list[str]:
        """Return what is wrong if the tables must be those of the clean run."""
        if self.run is None:
            return [f"the run stopped: {self.error}"]
        counts = ["rows_lost", "rows_added"]
        if self.fault != "body_not_in_source":  # such a body is grounded
            counts.append("bad_replies_kept")
        wrong = [
            f"{name}: {self.first[name]}" for name in counts if self.first and self.first[name]
        ]
        return wrong + ([f"{self.failed} passages rejected"] if self.failed else [])

    def passages_different_from(self, clean: Home) -> int:
        """Return how many passages not rejected have other facts than in the clean run."""
        mine, theirs = _facts_by_passage(self.home), _facts_by_passage(clean)
        return sum(facts != theirs.get(passage) for passage, facts in mine.items())


def _facts_by_passage(home: Home) -> dict[str, Counter[str]]:
    extractions = home.journal.table(Extraction).to_pylist()
    complete = [e["passage_id"] for e in extractions if e["outcome"] == "complete"]
    facts: dict[str, Counter[str]] = {passage: Counter() for passage in complete}
    for row in EXTRACTED:
        for fact in home.journal.table(row).to_pylist():
            if fact["passage_id"] in facts:
                content = {name: value for name, value in fact.items() if name not in TIMES}
                facts[fact["passage_id"]][f"{row.table} {content}"] += 1
    return facts


# -- what each kind must lead to -----------------------------------------------------------------


def retried(seen: Seen) -> list[str]:
    """Each request is sent once more, and the tables are right."""
    wrong = seen.different()
    met = sum(call.fault is not None or call.answered is None for call in seen.calls)
    if met != seen.requests:
        wrong.append(f"{met} of {seen.requests} requests met the fault")
    if seen.run and len(seen.calls) != 2 * seen.requests:
        wrong.append(f"{len(seen.calls)} calls for {seen.requests} requests")
    return wrong


def accepted(seen: Seen) -> list[str]:
    """The tables are right without a further call."""
    wrong = seen.different()
    if len(seen.calls) != seen.requests:
        wrong.append(f"{len(seen.calls)} calls for {seen.requests} requests")
    return wrong


def rejected(seen: Seen) -> list[str]:
    """The request is rejected with a reason and stores nothing; only the next run asks again."""
    if seen.run is None:
        return [f"the run stopped: {seen.error}"]
    wrong = []
    passages = seen.run.counts["extraction"]["passages"]
    if seen.failed != passages:
        wrong.append(f"{seen.failed} of {passages} passages rejected")
    if len(seen.calls) != seen.requests:
        wrong.append(f"{len(seen.calls)} calls for {seen.requests} requests")
    if len(seen.home.journal.table(ModelReply)) != seen.calls_after:
        wrong.append("a bad reply was kept")
    reasons = seen.home.live.table(Rejection)["reason"].to_pylist()
    if Counter(reasons)["extraction_failed"] < passages:
        wrong.append(f"rejections: {Counter(reasons)}")
    return wrong


def cut(seen: Seen) -> list[str]:
    """The passages are asked about in halves, or rejected; none is lost."""
    return seen.different() if not seen.failed else []


def stops(seen: Seen) -> list[str]:
    """The run stops at once, with a message, and makes no calls beyond those in flight."""
    if seen.run is not None:
        return ["the run went on"]
    wrong = []
    patient = seen.fault in ("h429_forever", "dns_fail")
    if seen.seconds > (30.0 if patient else SOON):
        wrong.append(f"stopped after {seen.seconds:.1f} s")
    if not patient and len(seen.calls) > 4:
        wrong.append(f"{len(seen.calls)} calls before it stopped")
    if not any(words in seen.error for words in ("next refresh", "same command", "Check")):
        wrong.append(f"the message: {seen.error}")
    return wrong


def totals(seen: Seen) -> list[str]:
    """The recorded calls and tokens equal those in the endpoint's ledger.

    Calls without a connection are recorded by the client alone. A call on a connection that the
    endpoint had just closed looks to the client like one that the endpoint dropped.
    """
    wrong = []
    arrived = [row for row in seen.noted if not _unreached(row)]
    dropped = sum("disconnected" in (row["detail"] or "") for row in arrived)
    if not 0 <= len(arrived) - len(seen.calls) <= dropped:
        wrong.append(f"{len(seen.noted)} calls noted, {len(seen.calls)} made")
    billable = [call for call in seen.calls if call.fault not in UNTOLD and not call.lost]
    for name in ("tokens_in", "tokens_out", "tokens_cached"):
        billed = sum(getattr(call, name) for call in billable)
        noted = sum(row[name] or 0 for row in seen.noted)
        if billed != noted:
            wrong.append(f"{name}: {noted} noted, {billed} billed")
    return wrong


def _unreached(row: dict[str, Any]) -> bool:
    untrusted = row["outcome"] == "stopped" and "certificate" in row["detail"]
    return row["outcome"] == "unreached" or untrusted


# -- what single faults must lead to besides -----------------------------------------------------


def pause_of(seconds: float) -> Callable[[Seen], list[str]]:
    """After the first refusal there are no calls for this many seconds."""

    def check(seen: Seen) -> list[str]:
        refused_at = [call.answered for call in seen.calls if call.fault and call.answered]
        later = [c.arrived for c in seen.calls if refused_at and c.arrived > refused_at[0] + 0.1]
        pause = min(later) - refused_at[0] if later else 0.0
        return [] if pause >= seconds else [f"only {pause:.2f} s of pause"]

    return check


def wait_of(seconds: float) -> Callable[[Seen], list[str]]:
    """The same request is not sent again before this many seconds."""

    def check(seen: Seen) -> list[str]:
        failed = {call.first_sha: call.answered for call in seen.calls if call.fault}
        waits = [
            call.arrived - (failed.get(call.first_sha) or 0.0)
            for call in seen.calls
            if not call.fault
        ]
        return [] if waits and min(waits) >= seconds else [f"waits: {waits[:3]}"]

    return check


def deadline(seen: Seen) -> list[str]:
    """The call ends within a second of its total deadline."""
    late = [row["seconds"] for row in seen.noted if row["outcome"] == "timed_out"]
    good = late and all(DEADLINE - 0.1 <= seconds <= DEADLINE + 1 for seconds in late)
    return [] if good else [f"calls that timed out took {late[:5]}"]


def outcome_of(outcome: str) -> Callable[[Seen], list[str]]:
    """The first attempts are recorded with this outcome."""

    def check(seen: Seen) -> list[str]:
        found = Counter(row["outcome"] for row in seen.noted)
        return [] if found[outcome] == seen.requests else [f"outcomes: {dict(found)}"]

    return check


def unknown_cost(seen: Seen) -> list[str]:
    """A cost that is not reported is unknown, not zero."""
    wrong = [] if all(row["cost"] is None for row in seen.noted) else ["a cost was made up"]
    if seen.run and seen.run.cost is not None:
        wrong.append("the run's cost was made up")
    return wrong


def other_model(seen: Seen) -> list[str]:
    """The model that answered is recorded."""
    models = {row["answered_by"] for row in seen.noted}
    return [] if models == {"other-model"} else [f"answered by {models}"]


def invented(seen: Seen) -> list[str]:
    """A fact that the text does not state is rejected with a reason, and is in no table."""
    reasons = seen.home.live.table(Rejection).filter(_of_stage("ground"))["text"].to_pylist()
    wrong = [] if any("INVENTED-XYZ" in (text or "") for text in reasons) else ["not rejected"]
    return wrong + nowhere("INVENTED-XYZ")(seen)


def nowhere(words: str) -> Callable[[Seen], list[str]]:
    """These words are in no table of the edition."""

    def check(seen: Seen) -> list[str]:
        edition = seen.home.editions.current()
        rows = [str(edition.table(row).to_pylist()) for row in schemas.EDITION] if edition else []
        return [f"{words} is in a table"] if any(words in text for text in rows) else []

    return check


def _of_stage(stage: str) -> Any:
    import pyarrow.compute as pc

    return pc.field("stage") == stage


CHECKS: dict[str, Callable[[Seen], list[str]]] = {
    "retried": retried,
    "accepted": accepted,
    "rejected": rejected,
    "cut": cut,
    "stops": stops,
    "totals": totals,
    "h429_after_2": pause_of(2.0),
    "h429_after_date": pause_of(1.9),
    "h429_ms": pause_of(1.5),
    "h503": wait_of(1.0),
    "never_answers": deadline,
    "slow_loris": deadline,
    "slow_headers": deadline,
    "late_duplicate": deadline,
    "body_truncated_length": outcome_of("truncated"),
    "body_empty": outcome_of("empty"),
    "body_refusal": outcome_of("refused"),
    "body_refusal_field": outcome_of("refused"),
    "body_echo_key": outcome_of("secret"),
    "body_usage_missing": unknown_cost,
    "body_usage_negative": unknown_cost,
    "body_model_swapped": other_model,
    "body_not_in_source": invented,
    "body_extra_fields": nowhere("OTHER-DOC"),
}
