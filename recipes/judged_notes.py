"""Fit the confidences of descriptions, notes and aliases: python -m recipes.judged_notes.

`recipes/judged/notes.jsonl` has what the rules read from ten English corpora, judged by
docs/judging.md; rows are as in `facts.jsonl`, with `kind`. What today's rules do not state any more
is left out. The confidence of each is the share of the useful ones that its rule read, drawn
towards the share of its kind. A regression over features of names and texts was tried and told
nothing on corpora it had not seen (areas under ROC .49, .40 and .63). Writes
tasks/extract/rules/note_precision.json.
"""

import json
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

from recipes.command import parser_of, run_command
from recipes.judged_facts import passage_of
from tasks.extract.english_pipeline.load import load_english
from tasks.extract.extracted import Mention
from tasks.extract.rules import aliases, aspects, descriptions
from tasks.extract.rules.clauses import Clause, find_clauses
from tasks.extract.rules.confidence import NOTE_PRECISION
from tasks.extract.rules.english import understand
from tasks.extract.rules.layout import lay_out
from tasks.extract.rules.passage import ParsedPassage
from tasks.extract.rules.tree import Reduced, parse, tree_of

JUDGED = Path(__file__).parent / "judged" / "notes.jsonl"
DRAWN = 4.0  # so many judgements does the share of the kind count for
Candidates = Callable[[ParsedPassage, list[Clause]], Iterable[tuple[Mention, str]]]
KINDS: dict[str, tuple[Candidates, tuple[str, ...]]] = {
    "description": (descriptions.candidates, ("entity", "text")),
    "note": (aspects.candidates, ("entity", "question", "text")),
    "alias": (lambda passage, _: aliases.candidates(passage), ("name", "alias")),
}


def judged_rules(rows: list[dict[str, Any]]) -> Iterator[tuple[str, str, bool]]:
    """Yield kind, rule and whether it was useful of each judged row that today's rules state."""
    pieces = [passage_of(row, "en") for row in rows]
    prose = [Reduced(lay_out(piece).prose.text) for piece in pieces]
    docs = parse(load_english(), (text.text for text in prose))
    for row, piece, text, doc in zip(rows, pieces, prose, docs, strict=True):
        passage = understand(piece, tree_of(doc, text))
        candidates, columns = KINDS[row["kind"]]
        for stated, rule in candidates(passage, find_clauses(passage.tree)):
            if all(stated[name].split() == row[name].split() for name in columns):
                yield row["kind"], rule, row["verdicts"][0] == "useful"
                break


def main() -> None:
    """Count, report, and write the confidences."""
    parser_of(__doc__).parse_args()
    rows = [json.loads(line) for line in JUDGED.read_text(encoding="utf-8").splitlines()]
    judged: dict[str, dict[str, list[bool]]] = {kind: defaultdict(list) for kind in KINDS}
    for kind, rule, useful in judged_rules(rows):
        judged[kind][rule].append(useful)
    precision: dict[str, dict[str, float]] = {}
    report: dict[str, Any] = {}
    for kind, rules in judged.items():
        every = [useful for verdicts in rules.values() for useful in verdicts]
        share = sum(every) / len(every)
        precision[kind] = {"any": round(share, 3)} | {
            rule: round((sum(verdicts) + DRAWN * share) / (len(verdicts) + DRAWN), 3)
            for rule, verdicts in sorted(rules.items())
        }
        counts = {rule: [sum(v), len(v)] for rule, v in sorted(rules.items())}
        report[kind] = {"judged": len(every), "useful": round(share, 3), "by rule": counts}
    text = json.dumps({"judged": report, "precision": precision}, indent=1)
    NOTE_PRECISION.write_text(text + "\n", encoding="utf-8")
    print(json.dumps(report))


if __name__ == "__main__":
    run_command(main)
