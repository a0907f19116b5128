"""`almanac audit`: shows facts of an edition, asks people for verdicts, and records them."""

import argparse
import sys
from typing import Any

from flows import terminal
from flows.audit_form import KEYS
from flows.home import edition_of, home_of
from flows.jobs import AuditFacts
from flows.orchestration import run_job
from tasks.audit import draw, keep_verdicts, verdicts_in_force
from tasks.audit_report import report

WORDS = {key: key for key in (*KEYS, "s", "q")} | {word: key for key, word in KEYS.items()}
ASKED = "useful (u), useless (n), wrong (w), skip (s) or stop (q)? "


def run(arguments: argparse.Namespace) -> int:
    """Ask for verdicts, write or read a file of them, or report on them."""
    job = AuditFacts.from_arguments(arguments)
    if arguments.write or arguments.read or arguments.report:
        done = run_job(job, arguments)
    else:
        done = _ask(arguments, job)
    terminal.show_result(done, _show, as_json=arguments.json)
    return 0


def _ask(arguments: argparse.Namespace, job: AuditFacts) -> dict[str, Any]:
    """Show one fact after another and keep each verdict at once."""
    home = home_of(arguments)
    kept = rejected = 0
    with edition_of(home, None).pinned() as edition:
        facts = draw(home, edition, job.plan)
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


def _show(done: dict[str, Any]) -> None:
    """Print what was done, and the report."""
    if "written" in done:
        terminal.show(
            f"{done['written']} facts are in {done['file']}. Fill in the column verdict, then run "
            f"`almanac audit --read {done['file']}`."
        )
        if done["sensitive"]:
            terminal.show(
                f"{done['sensitive']} sensitive facts were left out; `almanac audit` shows them."
            )
        return
    if "kept" in done:
        terminal.show(f"{done['kept']} verdicts are kept.")
        if done["rejected"]:
            terminal.show(
                f"{done['rejected']} wrong facts are left out from the next refresh on; `almanac "
                "override list` shows them, `almanac override withdraw ID` takes one back."
            )
        if done["gone"]:
            terminal.show(f"{done['gone']} facts of the file are not in the edition any more.")
    if not done["verdicts"]:
        terminal.show("There are no verdicts yet.")
        return
    names = ["by", "group", "verdicts", "useful", "useful_low", "useful_high", "useless", "wrong"]
    terminal.table(names, [[row[name] for name in names] for row in done["precision"]])
    names = ["fact_kind", "engine", "verdicts", "intercept", "slope"]
    terminal.show("Confidence here: log odds = intercept + slope * the engine's log odds")
    terminal.table(
        names,
        [
            [round(v, 3) if isinstance(v := line[name], float) else v for name in names]
            for line in done["confidence"]
        ],
    )
