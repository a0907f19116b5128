"""Make the pairs that the entailment model is trained on, and those kept aside.

    python -m recipes.entailment.prepare OUT [--public FOLDER]

Writes OUT/pairs.jsonl, with the half of every source that is kept aside marked. Takes some minutes.
"""

import json
import logging
from collections import Counter
from dataclasses import asdict
from pathlib import Path

from recipes.command import DATA, parser_of, run_command
from recipes.entailment.facts import invented_facts, stated_facts
from recipes.entailment.pair import Pair
from recipes.entailment.public import climate_pairs, public_pairs
from recipes.entailment.questions import question_pairs
from recipes.entailment.roles import role_pairs
from recipes.entailment.sentences import sentence_pairs
from tasks.extract.english_pipeline.load import load_english

log = logging.getLogger(__name__)
QUESTIONS, INVENTED, PATTERNS = 3500, 6000, 5000


def main() -> None:
    """Run it."""
    parser = parser_of(__doc__)
    parser.add_argument("out", type=Path)
    parser.add_argument("--public", type=Path, help="folder with the published sets")
    given = parser.parse_args()
    logging.basicConfig(level=logging.INFO, format="%(asctime)s %(message)s")
    pipeline = load_english(disable=("trainable_lemmatizer",))
    climate = DATA / "factcheck/climate-fever.jsonl.gz"
    pairs = [
        *climate_pairs(climate, reported=False),
        *invented_facts(DATA / "more/re", INVENTED),
        *stated_facts(DATA / "more/re"),
        *role_pairs(PATTERNS),
        *(public_pairs(given.public) if given.public else []),
        *question_pairs(DATA, pipeline, limit=QUESTIONS),
        *sentence_pairs(DATA / "multihop/2wiki_corpus.json.gz", pipeline),
    ]
    given.out.mkdir(parents=True, exist_ok=True)
    with (given.out / "pairs.jsonl").open("w", encoding="utf-8") as stream:
        stream.writelines(json.dumps(asdict(pair), ensure_ascii=False) + "\n" for pair in pairs)
    for (made, verdict, held_out), count in sorted(_kinds(pairs).items()):
        log.info("%s %s%s: %d", made, verdict, " (kept aside)" * held_out, count)


def _kinds(pairs: list[Pair]) -> Counter[tuple[str, str, bool]]:
    return Counter((pair.made, pair.verdict, pair.held_out) for pair in pairs)


if __name__ == "__main__":
    run_command(main)
