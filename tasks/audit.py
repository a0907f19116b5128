"""Draw facts of an edition for people to judge, and keep their verdicts."""

import math
import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from statistics import NormalDist
from typing import Any
from uuid import uuid4

import pyarrow as pa

from schemas.errors import UsageError
from schemas.observations import Override
from schemas.verdicts import Judgement, Verdict
from tasks.ingest.front_matter import front_matter_end
from tasks.publish.recalibrate import Line, recalibrations
from tasks.text.languages import HAN_OR_KANA_CLASS
from warehouse.derivation import read_sql
from warehouse.editions import DUCKDB_FILE, Edition
from warehouse.home import Home
from warehouse.overrides import overrides_in_force

KINDS = {  # as people call them: as tables call them
    "triples": "triple",
    "descriptions": "description",
    "notes": "aspect",
    "aliases": "alias",
    "statements": "statement",
}
AROUND = 280  # characters shown before and after the place of a fact
OPENING = 20_000  # characters of a document in which front matter may end
REASON = "audit"  # of the corrections that reject wrong facts
NORMAL_95 = NormalDist().inv_cdf(0.975)  # for an interval of 95 %
_PART_OF_WORD = rf"(?:(?![{HAN_OR_KANA_CLASS}])\w)+"
_CUT_START, _CUT_END = re.compile(rf"\A{_PART_OF_WORD}"), re.compile(rf"{_PART_OF_WORD}\Z")
_PLURAL = {value: name for name, value in KINDS.items()}


@dataclass(frozen=True, slots=True)
class Plan:
    """Which facts are drawn: all, or those of some kinds, a relation or a source.

    Facts are ordered by a hash of seed and id, so that audits with the same seed continue where the
    last one stopped. With `by`, the `limit` facts are drawn evenly from all kinds, relations or
    sources.
    """

    limit: int = 50
    seed: int = 0
    kinds: tuple[str, ...] = tuple(KINDS)
    relation: str | None = None
    source: str | None = None
    by: str | None = None

    @property
    def scope(self) -> str:
        """The sample's restriction to a relation or a source, in words."""
        limits = (("relation", self.relation), ("source", self.source))
        return ", ".join(f"{name} {value}" for name, value in limits if value is not None)


def draw(home: Home, edition: Edition, plan: Plan) -> list[dict[str, Any]]:
    """Return facts of the edition in random order that nobody has judged.

    Each has the columns of `Verdict` that are known before, and `title` and `text`, where « and »
    mark its place. Raises UsageError if the edition has no facts of this kind, relation or source.
    """
    edition.check(DUCKDB_FILE)
    judged = pa.table({"fact_id": pa.array(sorted(verdicts_in_force(home)), pa.string())})
    wanted = [KINDS[kind] for kind in plan.kinds]
    with edition.connect() as con:
        con.execute(read_sql("audited_facts"))  # the view of all facts
        con.register("judged", judged)
        values = {
            "kinds": wanted,
            "relation": plan.relation,
            "source": plan.source,
            "by": plan.by or "",
            "seed": str(plan.seed),
            "limit": plan.limit,
            "around": AROUND,
            "opening": OPENING,
        }
        rows: list[dict[str, Any]] = con.sql(_DRAWN, params=values).to_arrow_table().to_pylist()
        if not rows:
            scope = {name: values[name] for name in ("kinds", "relation", "source")}
            raise _nothing(plan, judged=bool(con.execute(_KNOWN, scope).fetchone()))
    audit_id = uuid4().hex
    added = {"audit_id": audit_id, "scope": plan.scope, "edition": edition.id}
    return [_in_context(row) | added for row in rows]


def _in_context(row: dict[str, Any]) -> dict[str, Any]:
    """Return a drawn fact with its place and whole words around it, AROUND characters at most."""
    before, after = row["before"], row["after"]
    if row["span_start"] <= OPENING and (body := front_matter_end(before)):
        before = before[body:].lstrip()
    if len(before) > AROUND:
        before = f"…{_CUT_START.sub('', before[-AROUND:])}"
    if len(after) > AROUND:
        after = f"{_CUT_END.sub('', after[:AROUND])}…"
    known = {name: value for name, value in row.items() if name not in ("before", "at", "after")}
    return known | {"text": f"{before}«{row['at']}»{after}"}


def verdicts_in_force(home: Home) -> dict[str, dict[str, Any]]:
    """Return the last verdict on each fact, by its id, without those that were taken back."""
    rejections = {row["override_id"] for row in overrides_in_force(home)}
    last = {row["fact_id"]: row for row in home.journal.table(Verdict).to_pylist()}
    return {
        fact_id: row
        for fact_id, row in last.items()
        if row["override_id"] is None or row["override_id"] in rejections
    }


def keep_verdicts(
    home: Home, judged: Iterable[tuple[dict[str, Any], Judgement]]
) -> tuple[int, int]:
    """Journal verdicts on drawn facts in one commit; return how many are new, and rejections.

    A wrong fact is rejected by a correction that `almanac override` shows and takes back; a later
    verdict that it is not wrong takes it back, too. A repeated verdict changes nothing.
    """
    known, now = verdicts_in_force(home), datetime.now(UTC)
    verdicts: list[Verdict] = []
    corrections: list[Override] = []

    def correct(action: Any, subject: str) -> str:
        override = Override(
            override_id=uuid4().hex, action=action, subject=subject, reason=REASON, made_at=now
        )
        corrections.append(override)
        return override.override_id

    for fact, verdict in judged:
        before = known.get(fact["fact_id"])
        if before and before["verdict"] == verdict:
            continue
        if before and before["override_id"]:
            correct("withdraw", before["override_id"])
        rejection = correct("reject", fact["fact_id"]) if verdict == "wrong" else None
        columns = {name: fact[name] for name in Verdict.model_fields if name in fact}
        verdicts.append(Verdict(**columns, verdict=verdict, override_id=rejection, judged_at=now))
    home.journal.append(
        {Verdict: Verdict.to_table(verdicts), Override: Override.to_table(corrections)}
    )
    return len(verdicts), sum(verdict.verdict == "wrong" for verdict in verdicts)


def find_facts(edition: Edition, fact_ids: Iterable[str]) -> Iterator[dict[str, Any]]:
    """Yield the facts of an edition with these ids, with what is known of them."""
    edition.check(DUCKDB_FILE)
    with edition.connect() as con:
        con.execute(read_sql("audited_facts"))  # the view of all facts
        con.register("wanted", pa.table({"fact_id": pa.array(list(fact_ids), pa.string())}))
        yield from con.sql(_FOUND).to_arrow_table().to_pylist()


def _nothing(plan: Plan, *, judged: bool) -> UsageError:
    what = " or ".join(plan.kinds) + (f" of {plan.scope}" if plan.scope else "")
    if judged:
        return UsageError(f"All {what} have been judged; `almanac audit --report` shows how.")
    return UsageError(
        f'The edition has no {what}. `almanac sql "select relation, triples from relations"` and '
        "`almanac sources list` show what there is."
    )


_SCOPE = """
from audited_facts
where list_contains($kinds, fact_kind) and ($relation is null or relation = $relation)
  and ($source is null or source = $source)
"""
_KNOWN = f"select 1 {_SCOPE} limit 1"
_DRAWN = f"""
with placed as (
    select *, md5($seed || fact_id) as place,
           case $by when 'kind' then fact_kind when 'relation' then relation
               when 'source' then source else '' end as stratum
    {_SCOPE} and fact_id not in (select fact_id from judged)
),
drawn as (
    select *, count(*) over (partition by stratum) as population,
           case when $by = '' then 0
               else row_number() over (partition by stratum order by place) end as turn
    from placed order by turn, place limit $limit
)
select f.* exclude (place, turn),
       d.text[if(f.span_start <= $opening, 1, f.span_start - $around):f.span_start] as before,
       d.text[f.span_start + 1:f.span_end] as at,
       d.text[f.span_end + 1:f.span_end + $around + 1] as after
from drawn f join documents d using (document_id)
order by f.turn, f.place
"""
_FOUND = "from audited_facts where fact_id in (select fact_id from wanted)"


# -- the report ----------------------------------------------------------------------------------


def report(home: Home) -> dict[str, Any]:
    """Return precision by kind, relation and source, and each engine's correction.

    A group counts only samples that could have drawn all of its facts: one of a single relation
    says nothing about a kind. Samples that drew more from some strata are weighted back to the
    sizes of the strata.
    """
    rows = list(verdicts_in_force(home).values())
    judged = Counter((row["audit_id"], row["stratum"]) for row in rows)
    lines = recalibrations(Verdict.to_table(rows)).to_pylist()
    for line in lines:
        fitted = Line(line["intercept"], line["slope"], line["verdicts"])
        line |= {"fact_kind": _PLURAL[line["fact_kind"]], "corrected_0.7": fitted.correct(0.7)}
    weighed = [
        row | {"stands_for": row["population"] / judged[row["audit_id"], row["stratum"]]}
        for row in rows
    ]
    return {
        "verdicts": len(rows),
        "precision": [
            *_groups(weighed, "kind", lambda row: _PLURAL[row["fact_kind"]], ""),
            *_groups(weighed, "relation", lambda row: row["relation"], "relation "),
            *_groups(weighed, "source", lambda row: row["source"], "source "),
        ],
        "confidence": lines,
    }


def _groups(rows: list[dict[str, Any]], by: str, name: Any, scope: str) -> list[dict[str, Any]]:
    """Return the precision of each group of rows with the same name, most verdicts first."""
    groups: dict[str, list[dict[str, Any]]] = defaultdict(list)
    for row in rows:
        label = name(row)
        if label and row["scope"] in ("", f"{scope}{label}" if scope else ""):
            groups[label].append(row)
    measured = [{"by": by, "group": label, **_precision(group)} for label, group in groups.items()]
    return sorted(measured, key=lambda row: (-row["verdicts"], row["group"]))


def _precision(rows: list[dict[str, Any]]) -> dict[str, Any]:
    """Return the weighted shares of verdicts, and Wilson's interval of the useful ones."""
    weights = _weights(rows)
    total = sum(weights)

    def share(verdict: str) -> float:
        of_it = (w for w, row in zip(weights, rows, strict=True) if row["verdict"] == verdict)
        return sum(of_it) / total

    useful = share("useful")
    low, high = wilson(useful, _effective(weights))
    return {
        "verdicts": len(rows),
        "useful": round(useful, 3),
        "useful_low": round(low, 3),
        "useful_high": round(high, 3),
        "useless": round(share("useless"), 3),
        "wrong": round(share("wrong"), 3),
    }


def _weights(rows: list[dict[str, Any]]) -> list[float]:
    """Return each verdict's weight: the facts it stands for, scaled by its sample's effective size.

    Within a sample, a verdict stands for its share of the facts in its stratum (Hajek 1971); each
    sample counts by Kish's effective size, that is, about by its inverse variance.
    """
    samples: dict[str, list[float]] = defaultdict(list)
    for row in rows:
        samples[row["audit_id"]].append(row["stands_for"])
    scale = {name: _effective(facts) / sum(facts) for name, facts in samples.items()}
    return [row["stands_for"] * scale[row["audit_id"]] for row in rows]


def _effective(weights: list[float]) -> float:
    """Return Kish's effective number of verdicts."""
    return sum(weights) ** 2 / sum(weight * weight for weight in weights)


def wilson(share: float, size: float) -> tuple[float, float]:
    """Return the 95 % interval of a share in a sample of a size (Wilson 1927)."""
    squared = NORMAL_95**2 / size
    middle = share + squared / 2
    spread = NORMAL_95 * math.sqrt(share * (1 - share) / size + squared / (4 * size))
    return max(0.0, (middle - spread) / (1 + squared)), min(1.0, (middle + spread) / (1 + squared))
