"""Compare found facts with those of a reader: `python -m recipes.passage_facts.score WEIGHTS`.

A fact counts as found if head and tail share at least half of their words with those of a fact of
the reader (F1 of words, Chinese characters). The passages are of documents that choose, or with
`--report` of those that report.
"""

from pathlib import Path

from recipes.command import parser_of, run_command
from recipes.passage_facts.finder import found_facts
from recipes.passage_facts.labels import labelled_passages
from recipes.passage_facts.network import fact_network
from tasks.text.stems import words_of

LEAST = (0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9)
ALIKE = 0.5
Fact = tuple[str, str, str]


def alike(one: str, other: str) -> bool:
    """Return whether two texts share at least half of their words."""
    left, right = (words_of(text, cut_chinese=True) for text in (one, other))
    return bool(left and right) and 2 * len(left & right) / (len(left) + len(right)) >= ALIKE


def matched(found: list[Fact], gold: list[Fact]) -> int:
    """Return how many facts match one of the reader's, each at most once."""
    left, count = list(gold), 0
    for head, _, tail in found:
        for fact in left:
            if alike(head, fact[0]) and alike(tail, fact[2]):
                left.remove(fact)
                count += 1
                break
    return count


def main() -> None:
    """Run it."""
    parser = parser_of(__doc__)
    parser.add_argument("weights", type=Path, help="OUT/model/model.safetensors")
    parser.add_argument("--report", action="store_true")
    parser.add_argument("--show", type=int, default=0, help="passages whose facts are shown")
    options = parser.parse_args()
    part = "report" if options.report else "choose"
    network = fact_network(options.weights).eval()
    rows = [row for row in labelled_passages() if row.part == part]
    counts: dict[tuple[str, float], list[int]] = {}
    for number, row in enumerate(rows):
        gold = [(row.tokens.words(f.head), f.relation, row.tokens.words(f.tail)) for f in row.facts]
        tokens, facts = row.tokens, found_facts(network, row.tokens)
        if number < options.show:
            print(f"\n# {tokens.title}\n{tokens.text[:700]}")
            for fact in gold:
                print("  label", " | ".join(fact))
            for f in facts:
                relation = f"{f.relation} ({tokens.words(f.cue) if f.cue else ''})"
                words = tokens.words(f.head), relation, tokens.words(f.tail)
                print(f"  {f.probability:.2f}", " | ".join(words))
        for least in LEAST:
            found = [
                (tokens.words(f.head), "", tokens.words(f.tail))
                for f in facts
                if f.probability >= least
            ]
            sums = counts.setdefault((row.language, least), [0, 0, 0])
            for place, value in enumerate((matched(found, gold), len(found), len(gold))):
                sums[place] += value
    for (language, least), (right, found_, gold_) in sorted(counts.items()):
        precision, recall = right / max(1, found_), right / max(1, gold_)
        f1 = 2 * precision * recall / max(1e-9, precision + recall)
        print(
            f"{language} {least}: precision {precision:.3f} recall {recall:.3f} F1 {f1:.3f} "
            f"of {found_} and {gold_}"
        )


if __name__ == "__main__":
    run_command(main)
