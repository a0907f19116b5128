"""Which words the segmenter's dictionary tags wrongly: verbs as nouns, nouns as verbs.

    python -m recipes.chinese_tags --treebanks FOLDER [--texts FOLDER ...] [--write]

The dictionary has 位置 and 知识 as verbs and 办理 as a noun. A logistic regression learns from
treebanks whether a word is mostly a verb, from the words around it in the Chinese texts of
ALMANAC_DATA/more. Words of two characters that it is sure of, and that no rule knows by name, get
another tag. FOLDER holds `*.conllu.gz` of Universal Dependencies: Chinese GSDSimp (dev and test,
CC BY-SA 4.0) and PUD (CC BY-SA 3.0); only counts of them go into the model. The tags that
are shipped were also learned from unlabelled texts of Chinese laws, television news, and the
documentation of TiDB and Vue.
`--write` puts them into tasks/extract/rules/chinese/tags.json.
"""

import gzip
import json
import math
import re
from collections import Counter, defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import cross_val_predict
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from recipes.command import DATA, ROOT, parser_of, run_command
from tasks.text.chinese_words import HAN_OR_ZERO, segmenter, simplified, tag_of
from tasks.text.languages import word_set

RULES = ROOT / "tasks" / "extract" / "rules" / "chinese"
LEAST = 8  # occurrences of a word to be judged by
SURE_VERB, NO_VERB, SELDOM_VERB = 0.7, 0.12, 0.2
BEFORE = {
    "modal": "不得 应当 应该 可以 能够 必须 将 要 会 能 可 应 须 不能 不会 未能 予以",
    "negation": "不 未 没有 没 勿 不再 尚未",
    "adverb": "已 已经 正在 正 曾 曾经 并 再次 再 就 便 才 都 均 还 也 又 先后 来 去 以 而",
    "的": "的",
    "preposition": "对 向 将 把 为 在 从",
    "determiner": "一 这 该 其 每 各 一个 一种 两 本 此",
}
AFTER = {
    "aspect": "了 着 过",
    "的": "的",
    "determiner": "一 一个 一种 两 其 该 这 本 三 多 各 有关 相关",
    "title": "《 “",
    "complement": "到 于 出 给 为 成 在",
    "predicate": "是 有 为 等 、",
}
TAGS_BEFORE, TAGS_AFTER = "nvdpumar-", "nvumradx-"
TAGS = word_set("v vn n nz nr ns a ad an d l i j b t nrt g vg z q m s f x")


def texts(data: Path, more: list[Path]) -> set[str]:
    """Return the Chinese texts of the development data, and of folders of Markdown."""
    named = ("cmrc2018_train_zh", "cmrc2018_dev_zh", "drcd_zh_hant", "cail2019_legal_zh")
    files = [data / "rc" / f"{name}.jsonl.gz" for name in named]
    files += [data / "re" / f"{name}.jsonl.gz" for name in ("finre_zh", "sanwen_zh")]
    folders = [*(data / "corpora").glob("zh_*"), *more]
    found = {path.read_text("utf-8") for folder in folders for path in folder.rglob("*.md")}
    for path in files:
        with gzip.open(path, "rt", encoding="utf-8") as lines:
            for line in lines:
                found.update(map(simplified, _strings(json.loads(line))))
    return found


def _strings(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        if HAN_OR_ZERO.search(value):
            yield value
    elif isinstance(value, dict | list):
        for part in value.values() if isinstance(value, dict) else value:
            yield from _strings(part)


def contexts(corpus: set[str]) -> dict[str, Counter[str]]:
    """Count what stands before and after each word; "" counts the word itself."""
    before = {w: kind for kind, words in BEFORE.items() for w in words.split()}
    after = {w: kind for kind, words in AFTER.items() for w in words.split()}
    counts: dict[str, Counter[str]] = defaultdict(Counter)
    for text in corpus:
        for run in re.split(r"[，。；：！？\n]", text):
            words = ["", *segmenter().cut(run), ""]
            for last, word, following in zip(words, words[1:], words[2:], strict=False):
                if HAN_OR_ZERO.match(word):
                    counts[word].update(
                        ["", f"before {before.get(last)}", f"after {after.get(following)}"]
                    )
                    counts[word].update(
                        [f"before tag {_tag(last)}", f"after tag {_tag(following)}"]
                    )
    return counts


def _tag(word: str) -> str:
    return (tag_of(word)[:1] or "-") if word else "edge"


def row(word: str, counts: Counter[str]) -> list[float]:
    """Return the features of a word: shares of its contexts, its tag in the dictionary."""
    kinds = [f"before {kind}" for kind in BEFORE] + [f"after {kind}" for kind in AFTER]
    kinds += [f"before tag {tag}" for tag in (*TAGS_BEFORE, "edge")]
    kinds += [f"after tag {tag}" for tag in (*TAGS_AFTER, "edge")]
    times = counts[""]
    shares = [math.log((counts[kind] + 0.3) / (times + 6)) for kind in kinds]
    return [
        *shares,
        *(float(tag_of(word) == tag) for tag in sorted(TAGS)),
        math.log(times),
        len(word),
    ]


def verbs(data: Path) -> dict[str, Counter[bool]]:
    """Return how often each word of the treebanks is a verb."""
    seen: dict[str, Counter[bool]] = defaultdict(Counter)
    for path in sorted(data.glob("*.conllu.gz")):
        with gzip.open(path, "rt", encoding="utf-8") as lines:
            for cells in (line.split("\t") for line in lines if line[:1].isdigit()):
                seen[simplified(cells[1])][cells[3] == "VERB"] += 1
    return seen


def main() -> None:
    """Fit, print how right it is on words left out, and write the words if asked to."""
    parser = parser_of(__doc__)
    parser.add_argument("--write", action="store_true", help="write tags.json")
    parser.add_argument("--treebanks", type=Path, required=True, help="folder of *.conllu.gz")
    parser.add_argument("--texts", type=Path, nargs="*", default=[], help="more Chinese texts")
    options = parser.parse_args()
    counts, seen = contexts(texts(DATA / "more", options.texts)), verbs(options.treebanks)
    words = [w for w in sorted(seen) if len(w) > 1 and counts[w][""] >= LEAST]
    rows = np.array([row(word, counts[word]) for word in words])
    truth = np.array([seen[word][True] > seen[word][False] for word in words])
    model = make_pipeline(StandardScaler(), LogisticRegression(C=0.3, max_iter=1000))
    held = cross_val_predict(model, rows, truth, cv=10, method="predict_proba")[:, 1]
    tagged = np.array([tag_of(word) == "v" for word in words])
    print(f"{len(words)} words: model {((held > 0.5) == truth).mean():.3f} right")
    print(f"dictionary {(tagged == truth).mean():.3f} right")
    for name, chosen, right in (
        ("other tags made verbs", ~tagged & (held > SURE_VERB), truth),
        ("verbs made nouns", tagged & (held < NO_VERB), ~truth),
        ("verbs made words that are seldom verbs", tagged & (held < SELDOM_VERB), ~truth),
    ):
        print(f"{name}: {chosen.sum()}, {right[chosen].mean():.2f} right")
    known = set((RULES / "lexicon.toml").read_text("utf-8").split())
    others = [w for w in sorted(counts) if len(w) == 2 and counts[w][""] >= LEAST and tag_of(w)]
    others = [word for word in others if word not in known]
    shares = model.fit(rows, truth).predict_proba([row(w, counts[w]) for w in others])[:, 1]
    lists: dict[str, list[str]] = {"v": [], "n": [], "vn": []}
    for word, share in zip(others, shares, strict=True):
        tag = tag_of(word)
        if share > SURE_VERB and tag[0] in "nailjbt":
            lists["v"].append(word)
        elif share < SELDOM_VERB and tag == "v":
            lists["n" if share < NO_VERB else "vn"].append(word)
    print({tag: len(found) for tag, found in lists.items()})
    if options.write:
        text = json.dumps({t: " ".join(found) for t, found in lists.items()}, ensure_ascii=False)
        (RULES / "tags.json").write_text(text + "\n", "utf-8")


if __name__ == "__main__":
    run_command(main)
