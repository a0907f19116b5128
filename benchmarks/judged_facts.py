"""How well the confidence of triples tells useful ones: python -m benchmarks.judged_facts.

Every figure is of corpora that the weights were fitted without (`recipes/judged_facts.py`, which
also writes the weights).
"""

from benchmarks.command import parser_of, report, run_command
from recipes.judged_facts import fit_language


def main() -> None:
    """Measure both languages and write the results."""
    parser_of(__doc__).parse_args()
    chinese = {"Chinese": fit_language("zh").figures}
    report("judged-facts", {**fit_language("en").figures, **chinese})


if __name__ == "__main__":
    run_command(main)
