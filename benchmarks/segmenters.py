"""Do rjieba and jieba cut Chinese alike, and how fast: python -m benchmarks.segmenters.

Cuts the runs of Han characters of 200 paragraphs each of CMRC 2018 (simplified) and DRCD
(traditional) below `$ALMANAC_DATA/more/rc`. jieba is not among the project's dependencies:
`pip install jieba`. Writes benchmarks/results/segmenters.json.
"""

import gzip
import importlib
import json
import os
import re
import time
from pathlib import Path
from typing import Any

from benchmarks.results_file import write_results
from tasks.text.chinese_words import HAN_OR_ZERO

DATA = Path(os.environ.get("ALMANAC_DATA", "../shared/data")) / "more" / "rc"
FILES = ("cmrc2018_dev_zh.jsonl.gz", "drcd_zh_hant.jsonl.gz")
PARAGRAPHS = 200


def han_runs() -> list[str]:
    """Return the runs of Han characters of the first paragraphs of each file."""
    runs: list[str] = []
    for name in FILES:
        with gzip.open(DATA / name, "rt", encoding="utf-8") as lines:
            texts = list(dict.fromkeys(json.loads(line)["context"] for line in lines))
        for text in texts[:PARAGRAPHS]:
            runs += re.findall(f"{HAN_OR_ZERO.pattern}+", text)
    return runs


def cut_all(name: str, runs: list[str]) -> tuple[list[list[str]], dict[str, Any]]:
    """Return a segmenter's cuts of all runs, and how long it took to load and to cut."""
    started = time.perf_counter()
    segmenter = importlib.import_module(name)
    list(segmenter.cut("北京"))
    loaded = time.perf_counter()
    cuts = [list(segmenter.cut(run)) for run in runs]
    seconds = time.perf_counter() - loaded
    characters = sum(map(len, runs))
    return cuts, {
        "seconds to load": round(loaded - started, 2),
        "characters a second": round(characters / seconds),
    }


def main() -> None:
    """Compare, and write the results."""
    runs = han_runs()
    ours, rust = cut_all("rjieba", runs)
    theirs, python = cut_all("jieba", runs)
    alike = sum(a == b for a, b in zip(ours, theirs, strict=True))
    results = {"runs": len(runs), "cut alike": alike, "rjieba": rust, "jieba": python}
    write_results("segmenters", "python -m benchmarks.segmenters", results)
    print(json.dumps(results, indent=1))


if __name__ == "__main__":
    main()
