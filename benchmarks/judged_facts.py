"""How well the confidence of triples tells useful ones: python -m benchmarks.judged_facts.

Every figure is of corpora that the weights were fitted without (`recipes/judged_facts.py`, which
also writes the weights).
"""

from benchmarks.command import parser_of, report, run_command
from recipes.judged_facts import fit_language


def main() -> None:
    """Measure both languages and write the results."""
    parser = parser_of(__doc__)
    parser.add_argument("--corpora", type=int, metavar="N", help="of each language (all)")
    most = parser.parse_args().corpora
    chinese = {"Chinese": fit_language("zh", most).figures}
    report("judged-facts", {**fit_language("en", most).figures, **chinese})


if __name__ == "__main__":
    run_command(main)
