"""Which Chinese words after a surname name a person: python -m recipes.chinese_persons FOLDER.

Words of two or three characters that begin with a surname, as the rules read them, come with an
answer from Universal NER's Chinese GSDSimp (CC BY-SA 4.0), SanWen and FinRE (MIT), and titles and
spans of years of CMRC 2018, DRCD and XQuAD (CC BY-SA), where words around a word tell persons, too.
No such word of laws, recipes and a software manual names a person, and every such part of a foreign
name with a middle dot does. FOLDER holds
the `*.iob2` of Universal NER and `laws`, texts of laws. The printed figures are of the words of
GSDSimp's dev and test. Writes tasks/extract/rules/chinese/persons.json.
"""

import json
import math
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import numpy as np
from sklearn.feature_extraction import DictVectorizer
from sklearn.linear_model import LogisticRegression

from recipes.chinese_kinds import encyclopedic_texts, related_texts, tagged_texts
from recipes.command import DATA, parser_of, run_command
from recipes.guessed_kinds import Span
from tasks.extract.rules.chinese.lexicon import KIN, SURNAMES
from tasks.extract.rules.chinese.naming import PERSON_WEIGHTS, person_features
from tasks.extract.rules.chinese.tokens import (
    PERSON_TAGS,
    Token,
    find_foreign_names,
    read_sentences,
)
from tasks.text.chinese_words import HAN_OR_ZERO, simplified
from tasks.text.languages import word_set

NOBODY = ("zh_echarts_docs", "zh_howtocook")
LEADING = KIN | word_set(
    "总统 国王 皇帝 将军 导演 演员 歌手 作家 诗人 教授 刺史 太守 丞相 总理 主席 画家"
)
FOLLOWING = word_set(
    "说 表示 认为 先生 女士 教授 出生 出生于 生于 去世 逝世 病逝 即位 登基 指出 回忆"
)
CONTEXT_WEIGHT = 0.5  # of a word that words around it show to be a person: one of 15 names nobody
FOREIGN_WEIGHT = 0.2  # of a part of a foreign name: there are many, and they are alike
CAUTION = 0.4  # less than the constant that fits best, as a name is lost less than a person made up
# More for two characters that the dictionary has as a person: companies in FinRE mislead.
KNOWN = 2.0
SMALLEST = 0.03  # of a weight that is kept
Answers = Counter[tuple[str, bool]]
"""How often a word is a person's name, and how often it is none."""


def candidates(text: str) -> Iterator[Token]:
    """Yield the words that may name a person by their length and their first character."""
    for sentence in read_sentences(text, []):
        for token in sentence.tokens:
            if token.tag in PERSON_TAGS | {"ns", "nz"} and _is_candidate(token.text):
                yield token


def _is_candidate(word: str) -> bool:
    return len(word) in (2, 3) and word[0] in SURNAMES and bool(HAN_OR_ZERO.match(word))


def answers(text: str, kinds: dict[Span, str], *, all_known: bool) -> Iterator[tuple[str, bool]]:
    """Yield the candidates of a text whose stretches have these kinds, and which are persons.

    A candidate inside a longer name is left out, as is, unless `all_known`, any without a kind.
    """
    for token in candidates(text):
        kind = kinds.get((token.start, token.end), "")
        inside = any(start <= token.start and token.end <= end for start, end in kinds)
        if kind or (all_known and not inside):
            yield token.text, kind == "person"


def training(folder: Path) -> Iterator[tuple[str, bool]]:
    """Yield candidates with their answers, from all texts that have answers."""
    for _, text, kinds in tagged_texts(folder / "zh_gsdsimp-ud-train.iob2"):
        yield from answers(text, kinds, all_known=True)
    for _, _, text, kinds in related_texts(DATA):
        yield from answers(text, kinds, all_known=False)
    for title, text, kinds, names in encyclopedic_texts(DATA):
        yield from answers(text, kinds, all_known=False)
        kind = next((kinds[start, end] for start, end in kinds if text[start:end] == title), "")
        if names and _is_candidate(title):
            yield title, kind == "person"
    roots = [folder / "laws", *(DATA / "more" / "corpora" / name for name in NOBODY)]
    for path in (path for root in roots for path in sorted(root.rglob("*.md"))):
        yield from answers(simplified(path.read_text("utf-8")), {}, all_known=True)


def persons_in_context() -> set[str]:
    """Return the candidates beside a word of kinship, an office or what persons do."""
    persons = set()
    for text in {text for _, text, _, _ in encyclopedic_texts(DATA)}:
        for sentence in read_sentences(text, []):
            words = ["", *(token.text for token in sentence.tokens), ""]
            for before, token, after in zip(words, sentence.tokens, words[2:], strict=False):
                if token.tag in PERSON_TAGS and (before in LEADING or after in FOLLOWING):
                    persons |= {token.text} if _is_candidate(token.text) else set()
    return persons


def foreign_parts(folder: Path) -> set[str]:
    """Return the parts of foreign names with a middle dot that begin with a surname."""
    texts = [text for _, text, _ in tagged_texts(folder / "zh_gsdsimp-ud-train.iob2")]
    texts += [text for _, text, _, _ in encyclopedic_texts(DATA)]
    names = (text[start:end] for text in texts for start, end in find_foreign_names(text))
    return {
        part for name in names if "·" in name for part in name.split("·") if _is_candidate(part)
    }


def learned(pairs: Answers, others: dict[str, float]) -> dict[str, float]:
    """Return the weights by feature; the constant has an empty name. `others` are names of persons.

    They come with their weights; a word of `pairs` weighs the root of its number.
    """
    words = [*(word for word, _ in pairs), *others]
    right = [*(person for _, person in pairs), *(True for _ in others)]
    weights = [*map(math.sqrt, pairs.values()), *others.values()]
    design = DictVectorizer()
    matrix = design.fit_transform([dict.fromkeys(person_features(word), 1.0) for word in words])
    model = LogisticRegression(C=0.5, max_iter=3000).fit(matrix, right, sample_weight=weights)
    found = zip(design.get_feature_names_out(), map(float, model.coef_[0]), strict=True)
    kept = {name: round(weight, 2) for name, weight in found if abs(weight) >= SMALLEST}
    kept["known as nr of 2"] = round(kept.get("known as nr of 2", 0.0) + KNOWN, 2)
    return {"": round(float(model.intercept_[0]) - CAUTION, 2), **dict(sorted(kept.items()))}


def shares(weights: dict[str, float], pairs: Answers) -> dict[str, float]:
    """Return precision and recall of the weights on distinct words."""
    scores = [
        sum(weights.get(feature, 0.0) for feature in ("", *person_features(word)))
        for word, _ in pairs
    ]
    accepted, person = np.array(scores) > 0, np.array([answer for _, answer in pairs])
    both = float((accepted & person).sum())
    return {"precision": both / accepted.sum(), "recall": both / person.sum(), "words": len(pairs)}


def main() -> None:
    """Train, measure, and write the weights."""
    parser = parser_of(__doc__)
    parser.add_argument("folder", metavar="FOLDER", type=Path)
    folder = parser.parse_args().folder
    others = dict.fromkeys(sorted(foreign_parts(folder)), FOREIGN_WEIGHT)
    others |= dict.fromkeys(sorted(persons_in_context()), CONTEXT_WEIGHT)
    weights = learned(Counter(training(folder)), others)
    unseen: Answers = Counter()
    for part in ("dev", "test"):
        for _, text, kinds in tagged_texts(folder / f"zh_gsdsimp-ud-{part}.iob2"):
            unseen.update(answers(text, kinds, all_known=True))
    print(json.dumps(shares(weights, unseen)))
    PERSON_WEIGHTS.write_text(json.dumps(weights, ensure_ascii=False, separators=(",", ":")))


if __name__ == "__main__":
    run_command(main)
