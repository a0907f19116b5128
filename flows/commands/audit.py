"""`almanac audit`: shows facts of an edition, asks people for verdicts, and records them."""

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from pydantic import model_validator

from flows import terminal
from flows.audit_form import KEYS, read_form, write_form
from flows.jobs import Call, Job, Runner, finer, option, switch
from flows.summary import rows_of
from flows.terminal import Shown, Table
from tasks.text.english_words import counted

if TYPE_CHECKING:
    from tasks.audit import Plan

WORDS = {key: key for key in (*KEYS, "s", "q")} | {word: key for key, word in KEYS.items()}
ASKED = "useful (u), useless (n), wrong (w), skip (s) or stop (q)? "
PRECISION = ("by", "group", "verdicts", "useful", "useful_low", "useful_high", "useless", "wrong")
CONFIDENCE = ("fact_kind", "engine", "laid_out", "verdicts", "intercept", "slope", "corrected_0.7")


class AuditFacts(Job):
    """Judge a random sample of facts: wrong ones are rejected, and confidence learns."""

    flow_name = "audit-facts"
    outcome = "What people think of the facts"

    write: str | None = option(
        "FILE", "Write facts to fill in to this file, .csv or .jsonl (none).", None, also=("--out",)
    )
    read: str | None = option(
        "FILE", "Keep the verdicts of this file (none).", None, also=("--in",)
    )
    report: bool = switch("Show how precise facts are by all verdicts.")
    limit: int = option("N", "Facts to draw.", 50, also=("--n",), ge=1)
    kinds: list[Literal["triples", "descriptions", "notes", "aliases", "statements"]] = option(
        None, "Draw this kind of facts only; may be repeated (all).", [], name="--kind"
    )
    relation: str | None = option("NAME", "Draw triples of this relation only (all).", None)
    source: str | None = finer("Draw facts of this source only (all).", None)
    by: Literal["kind", "relation", "source"] | None = finer(
        "Draw alike from each of these (from all facts together).", None
    )
    seed: int = finer("The random seed; audits with one seed continue.", 0)

    @model_validator(mode="after")
    def _does_one_thing(self) -> "AuditFacts":
        """Refuse two tasks at once."""
        if sum(map(bool, (self.write, self.read, self.report))) > 1:
            raise ValueError("give one of --write, --read and --report")
        return self

    @property
    def plan(self) -> "Plan":
        """Which facts are drawn."""
        from tasks.audit import KINDS, Plan

        kinds = tuple(dict.fromkeys(map(str, self.kinds))) or tuple(KINDS)
        return Plan(self.limit, self.seed, kinds, self.relation, self.source, self.by)

    def run(self, call: Call) -> int:
        """Ask for verdicts, write or read a file of them, or report on them."""
        if self.write or self.read or self.report:
            return super().run(call)
        self.print(self._ask(), call)
        return 0

    def work(self, runner: Runner) -> dict[str, Any]:
        """Write or read the file, and return the report."""
        from flows.home import edition_of
        from tasks.audit import draw, find_facts, keep_verdicts, report

        home = self.place
        if self.write:
            with edition_of(home, None).pinned() as edition:
                facts = draw(home, edition, self.plan)
            shown = [fact for fact in facts if fact["sensitivity"] == "normal"]
            written = write_form(Path(self.write), shown)
            left_out = len(facts) - written
            return {"written": written, "file": self.write, "sensitive": left_out}
        if not self.read:
            edition_of(home, None)  # says so if the home is a mistake
            return report(home)
        rows = {row["fact_id"]: (row, verdict) for row, verdict in read_form(Path(self.read))}
        with edition_of(home, None).pinned() as edition:
            facts = list(find_facts(edition, rows))
        drawn = ("audit_id", "scope", "stratum", "population", "edition")
        judged = []
        for fact in facts:
            row, verdict = rows[fact["fact_id"]]
            judged.append((fact | {name: row[name] for name in drawn}, verdict))
        kept, rejected = keep_verdicts(home, judged)
        gone = len(rows) - len(facts)
        return {"kept": kept, "rejected": rejected, "gone": gone, **report(home)}

    def _ask(self) -> dict[str, Any]:
        """Show one fact after another and keep each verdict at once."""
        from flows.home import edition_of
        from tasks.audit import draw, keep_verdicts, report, verdicts_in_force

        home = self.place
        kept = rejected = 0
        with edition_of(home, None).pinned() as edition:
            facts = draw(home, edition, self.plan)
            position = home.journal.position
            for number, fact in enumerate(facts, 1):
                if home.journal.position != position:  # somebody else may judge at the same time
                    position = home.journal.position
                    if fact["fact_id"] in verdicts_in_force(home):
                        continue
                verdict = _verdict(fact, f"{number} of {len(facts)}")
                if verdict == "q":
                    break
                if verdict in KEYS:
                    new, wrong = keep_verdicts(home, [(fact, KEYS[verdict])])
                    kept, rejected = kept + new, rejected + wrong
        return {"kept": kept, "rejected": rejected, "gone": 0, **report(home)}

    def shown(self, result: dict[str, Any]) -> Iterator[Shown]:
        """Yield what was done, and the report."""
        if "written" in result:
            yield (
                f"{counted(result['written'], 'fact is', 'facts are')} in {result['file']}. "
                "Fill in the column verdict, then run `almanac audit --read "
                f"{result['file']}`."
            )
            if result["sensitive"]:
                were = ("sensitive fact was", "sensitive facts were")
                yield f"{counted(result['sensitive'], *were)} left out; `almanac audit` shows all."
            return
        if "kept" in result:
            yield f"{counted(result['kept'], 'verdict is', 'verdicts are')} kept."
            if result["rejected"]:
                wrong = counted(result["rejected"], "wrong fact is", "wrong facts are")
                yield (
                    f"{wrong} left out from the next refresh on; `almanac override list` shows "
                    "all, `almanac override withdraw ID` takes one back."
                )
            if result["gone"]:
                gone = counted(result["gone"], "fact of the file is", "facts of the file are")
                yield f"{gone} not in the edition any more."
        if not result["verdicts"]:
            yield "There are no verdicts yet."
            return
        if result["precision"]:
            yield rows_of(PRECISION, result["precision"])
        else:
            yield "No verdict is on a random sample, so that no precision is measured yet."
        yield (
            "Confidence from the next refresh on: log odds = intercept + slope * the engine's log "
            "odds, so that .7 becomes corrected_0.7"
        )
        lines = [
            [round(v, 3) if isinstance(v := line[name], float) else v for name in CONFIDENCE]
            for line in result["confidence"]
        ]
        yield Table(CONFIDENCE, lines)


def _verdict(fact: dict[str, Any], place: str) -> str:
    """Show a fact and return the key that was pressed: one of `KEYS`, s or q."""
    terminal.say(f"\n[{place}] {fact['fact_kind']}: {terminal.one_line(fact['fact'])}")
    mark = " (sensitive)" if fact["sensitivity"] == "sensitive" else ""
    terminal.say(f"  {terminal.one_line(fact['title'])}{mark}, {fact['source']}")
    terminal.say(f"  {terminal.one_line(fact['text'])}")
    while True:
        print(ASKED, end="", file=sys.stderr, flush=True)
        try:
            line = sys.stdin.readline()
        except (KeyboardInterrupt, UnicodeDecodeError):
            line = ""
        if not line:
            terminal.say("")
            return "q"
        word = line.strip().lower()
        if word in WORDS:
            return WORDS[word]


COMMAND = AuditFacts
