"""splink as a baseline of resolution: Fellegi and Sunter's model of pairs, learned without labels.

splink (Linacre and others) compares pairs of names that share their first or last word, by
Jaro-Winkler similarity of the names and equality of the kinds, estimates both by expectation
maximisation, and joins pairs that are more likely the same than not. `pip install -e .[splink]`.
"""

from collections.abc import Mapping
from importlib import import_module
from importlib.util import find_spec

import pyarrow as pa

from tasks.text.names import normalise_name

LIKELY = 0.5
RANDOM_PAIRS = 1_000_000
RECALL_OF_EQUAL_NAMES = 0.85  # what equality of names finds, which splink asks for
Mention = tuple[str, str]


def splink_clusters(kinds: Mapping[Mention, str]) -> dict[Mention, int] | None:
    """Return the cluster of each mention by its name and kind; None where splink is missing."""
    if find_spec("splink") is None:
        return None
    splink = import_module("splink")
    compare = import_module("splink.comparison_library")
    mentions = sorted(kinds)
    comparisons = [compare.JaroWinklerAtThresholds("name", [0.95, 0.88])]
    if set(kinds.values()) != {"unknown"}:
        comparisons.append(compare.ExactMatch("kind"))
    blocks = [splink.block_on(column) for column in ("name", "first", "last")]
    settings = splink.SettingsCreator(
        link_type="dedupe_only",
        comparisons=comparisons,
        blocking_rules_to_generate_predictions=blocks,
    )
    database = import_module("splink.backends.duckdb").DuckDBAPI()
    linker = splink.Linker(database.register(_table(mentions, kinds)), settings)
    training = linker.training
    training.estimate_probability_two_random_records_match(blocks[:1], recall=RECALL_OF_EQUAL_NAMES)
    training.estimate_u_using_random_sampling(max_pairs=RANDOM_PAIRS, seed=1)
    for block in blocks[1:]:
        training.estimate_parameters_using_expectation_maximisation(block)
    pairs = linker.inference.predict(threshold_match_probability=LIKELY)
    found = linker.clustering.cluster_pairwise_predictions_at_threshold(pairs, LIKELY)
    rows = found.as_duckdbpyrelation().select("unique_id, cluster_id").fetchall()
    return {mentions[unique]: cluster for unique, cluster in rows}


def _table(mentions: list[Mention], kinds: Mapping[Mention, str]) -> pa.Table:
    names = [normalise_name(name) for _, name in mentions]
    known = [None if kinds[mention] == "unknown" else kinds[mention] for mention in mentions]
    words = [name.split() or [""] for name in names]
    return pa.table(
        {
            "unique_id": list(range(len(mentions))),
            "name": names,
            "first": [word[0] for word in words],
            "last": [word[-1] for word in words],
            "kind": pa.array(known, pa.string()),
        }
    )
