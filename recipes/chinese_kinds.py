"""Train the weights that guess kinds of Chinese names: python -m recipes.chinese_kinds FOLDER.

Mentions with kinds come from Universal NER's Chinese GSDSimp (train; CC BY-SA 4.0), FinRE and
SanWen (MIT), whose relations tell kinds, and CMRC 2018, DRCD and XQuAD (CC BY-SA), where the
first sentence defines the title or a span of years follows a name; and from
`recipes/judged/chinese_kinds.json`: names of Chinese repositories whose kinds a reader judged,
those of the part `training`. FOLDER holds `judged.json`, the same for repositories whose licences
let only the figure be published, `*.iob2` of Universal NER, `weibo*` (NER of messages,
measured alone) and a folder of documents for each judged repository that is not development data.
Figures are of names, pooled over their mentions, of the part `report`, whose repositories taught
nothing, and of the treebanks and messages that nothing was learned from. Writes
tasks/extract/rules/chinese/kind_weights.safetensors.
"""

import gzip
import json
import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from random import Random

import numpy as np

from recipes import guessed_kinds
from recipes.command import DATA, parser_of, run_command
from recipes.guessed_kinds import Mention, Span, judged_pairs, shares, train, write_weights
from tasks.extract.rules.chinese.naming import (
    WEIGHTS,
    clean,
    described_kind,
    kind_by_ending,
    kind_of,
    mention_features,
    name_features,
    plain_title,
)
from tasks.extract.rules.chinese.read import name_runs
from tasks.extract.rules.chinese.tokens import LATIN, Token, read_sentences, text_of
from tasks.extract.rules.layout import lay_out
from tasks.ingest.formats.cleaning import clean as clean_text
from tasks.ingest.formats.names import title_of_name, title_of_text
from tasks.ingest.split import split
from tasks.text.chinese_words import simplified
from tasks.text.languages import HAN_CLASS

JUDGED = Path(__file__).parent / "judged" / "chinese_kinds.json"
KIND_OF_TAG = {"PER": "person", "LOC": "place", "GPE": "place", "ORG": "organisation"}
KIND_OF_RELATION = {"Family": "person", "Social": "person"}
"""The kind of both ends of a relation of SanWen; those of FinRE are organisations."""

DEFINED = {
    "person": """
        球员 选手 武将 官员 政治人物 枢机 主教 模特儿 声优 僧人 皇后 公主 王子 贵族 运动员
    """,
    "organisation": """
        乐队 乐团 组合 球队 球会 政党 连锁店 企业 品牌 军队 舰队 电视网 频道 航空 军团 师
    """,
    "place": """
        小镇 行政区划 自治区 建筑 建筑物 教堂 体育场 酒店 商场 火车站 地铁站 住宅区 小行星 星系
        古城 高速公路 铁路
    """,
    "event": """
        之战 比赛 赛事 选举 地震 台风 飓风 节日 空难 惨案 典礼 联赛 锦标赛 暴动 运动会 音乐节
    """,
    "work": """
        动画 漫画 单曲 音乐剧 剧集 连续剧 节目 电子游戏 影片 纪录片 书 演唱会 EP 动漫 喜剧 剧 片
    """,
    "thing": """
        软件 语言 协议 疾病 病 药物 植物 动物 昆虫 鱼类 属 科 种 乔木 灌木 草本 恐龙 鸟类 化合物
        矿物 武器 坦克 战斗机 轰炸机 导弹 战列舰 驱逐舰 巡洋舰 潜艇 手机 汽车 摩托车 列车 飞机 型号
        系统 技术 算法 理论 定理 格式 标准 法律 食品 菜 饮料 乐器 症状 概念 方法 学说 宗教 菜肴
        甜点 小吃 货币 称号 游戏机 计算机 处理器
    """,
}
"""The last words of a definition that tell a kind, beside those of the rules."""

KIND_OF_NOUN = {noun: kind for kind, nouns in DEFINED.items() for noun in nouns.split()}
DEFINITION = re.compile("[^。]{0,40}?(?:是|为)([^，。；：是为]{2,40})")
LIFE = re.compile(
    f"([{HAN_CLASS}·]{{2,12}})（[^（）。]{{0,30}}?\\d{{3,4}}年[^（）。]{{0,20}}[-－—–~]"
)
WIKIPEDIA = (
    "cmrc2018_train_zh",
    "cmrc2018_dev_zh",
    "cmrc2018_trial_zh",
    "drcd_zh_hant",
    "xquad_zh",
)
PASSAGE_TOKENS = 256
RIDGE, JUDGED_WEIGHT = 1e-4, 1.0  # chosen on names of judged repositories that were kept out
NAMED_KINDS = ("person", "place", "organisation")
EACH_LATIN = 500
NOTHING = np.zeros((0, 1), np.float16)  # Chinese mentions have no states


def mentions_in(
    source: str, document: str, text: str, kinds: dict[Span, str], names: list[str]
) -> Iterator[Mention]:
    """Yield the mentions that the rules find at the stretches of a text that have a kind."""
    for sentence in read_sentences(text, names):
        for first, last in name_runs(sentence.tokens):
            own = sentence.tokens[first:last]
            name = clean(text_of(own))
            start = own[0].start + text_of(own).find(name)
            kind = kinds.get((start, start + len(name)), "")
            apart = not any(a < own[-1].end and own[0].start < b for a, b in kinds)
            if source == "gsd" and apart and kind_of(own) not in NAMED_KINDS:
                kind = "thing"  # what the rules take for a name and the treebank does not
            if source == "wikipedia" and len(name) > 3 and kind_by_ending(name) == "event":
                kind = kind or "event"  # titles alone have few
            if name and kind and own[-1].tag != "work":  # 《》 states a work
                features = mention_features(sentence.tokens, first, last)
                yield Mention(source, document, name, kind, features, NOTHING)


def tagged_texts(path: Path) -> Iterator[tuple[str, str, dict[Span, str]]]:
    """Yield document, text and the kinds of stretches from a file with a tag for each word."""
    document, text, spans, start = "", "", dict[Span, str](), 0
    for line in [*path.read_text("utf-8").splitlines(), ""]:
        if line.startswith("# newdoc"):
            document = line.rpartition(" ")[2]
        elif not line and text:
            yield f"{path.stem} {document}", simplified(text), spans
            text, spans = "", {}
        elif line and not line.startswith("# "):
            columns = line.split("\t")
            word, tag = columns[1:3] if len(columns) > 2 else (columns[0][0], columns[1])
            apart = text[-1:].isascii() and text[-1:].isalnum() and word[0].isascii()
            text += " " * (apart and word[0].isalnum() and len(columns) > 2)
            start = start if tag.startswith("I-") else len(text)
            text += word
            spans.pop((start, len(text) - len(word)), None)
            if tag != "O" and not tag.endswith(".NOM"):
                spans[start, len(text)] = KIND_OF_TAG.get(tag[2:5], "")


def related_texts(data: Path) -> Iterator[tuple[str, str, str, dict[Span, str]]]:
    """Yield source, document, text and kinds that relations tell of their ends."""
    for source in ("finre_zh", "sanwen_zh"):
        path = data / "more" / "re" / f"{source}.jsonl.gz"
        for line in gzip.decompress(path.read_bytes()).decode().splitlines():
            row, kinds = json.loads(line), dict[Span, str]()
            for relation in row["relations"]:
                kind = KIND_OF_RELATION.get(relation["relation"], "")
                for end in ("head", "tail"):
                    span = relation[f"{end}_start"], relation[f"{end}_end"]
                    kinds[span] = "organisation" if source == "finre_zh" else kind
            yield source, row["id"], row["text"], kinds


def defined_kind(title: str, text: str) -> str:
    """Return what the first sentence says that a title is, else an empty string."""
    match = DEFINITION.match(text[len(title) :]) if text.startswith(title) else None
    description = match[1].removesuffix("之一") if match else ""
    for length in range(min(4, len(description)), 0, -1):
        if kind := KIND_OF_NOUN.get(description[-length:]):
            return kind
    kind = described_kind(description) if description else "unknown"
    return "" if kind == "unknown" else kind


def encyclopedic_texts(data: Path) -> Iterator[tuple[str, str, dict[Span, str], list[str]]]:
    """Yield title, text, kinds and the title as a name from passages of Wikipedia."""
    passages: dict[str, str] = {}
    for name in WIKIPEDIA:
        path = data / "more" / "rc" / f"{name}.jsonl.gz"
        for line in gzip.decompress(path.read_bytes()).decode().splitlines():
            row = json.loads(line)
            passages[simplified(row["context"])] = plain_title(simplified(row["title"]))
    kind_of: dict[str, str] = {}
    for text, title in passages.items():
        if kind := defined_kind(title, text):
            kind_of.setdefault(title, kind)
    for text, title in passages.items():
        kind, kinds = kind_of.get(title, ""), dict[Span, str]()
        kinds |= {match.span(1): "person" for match in LIFE.finditer(text)}
        if kind:
            kinds |= {match.span(): kind for match in re.finditer(re.escape(title), text)}
        yield title, text, kinds, [title] if kind else []


def open_mentions(data: Path, folder: Path) -> list[Mention]:
    """Return the mentions of the open data that the rules find, too."""
    mentions: list[Mention] = []
    for document, text, kinds in tagged_texts(folder / "zh_gsdsimp-ud-train.iob2"):
        mentions += mentions_in("gsd", document, text, kinds, [])
    named = {mention.name for mention in mentions if mention.kind != "thing"}
    mentions = [m for m in mentions if m.kind != "thing" or m.name not in named]
    for source, document, text, kinds in related_texts(data):
        mentions += mentions_in(source, document, text, kinds, [])
    for title, text, kinds, names in encyclopedic_texts(data):
        mentions += mentions_in("wikipedia", title, text, kinds, names)
    return mentions + latin_names(data)


def latin_names(data: Path) -> list[Mention]:
    """Return names of English texts, each once and without its context, some of each kind."""
    kind_of: dict[str, tuple[str, str]] = {}
    for _, document, text, kinds in guessed_kinds.labelled_texts(data):
        for (start, end), kind in kinds.items():
            if LATIN.fullmatch(text[start:end]):
                kind_of[text[start:end]] = kind, document
    names = sorted(kind_of)
    Random(0).shuffle(names)
    taken, mentions = Counter[str](), []
    for name in names:
        kind, document = kind_of[name]
        taken[kind] += 1
        if taken[kind] <= EACH_LATIN:
            features = name_features([Token(name, "latin", 0, len(name))])
            mentions.append(Mention("english", document, name, kind, features, NOTHING))
    return mentions


def judged_mentions(data: Path, folder: Path, part: str) -> list[Mention]:
    """Return all mentions in the judged repositories of a part, judged names with their kind."""
    mentions = []
    lists = [path for path in (JUDGED, folder / "judged.json") if path.exists()]
    for corpus in (row for path in lists for row in json.loads(path.read_text("utf-8"))):
        if corpus["part"] != part:
            continue
        kind_of = {name: kind for kind, names in corpus["kinds"].items() for name in names}
        own = folder / corpus["corpus"]
        root = own if own.exists() else data / "more" / "corpora" / corpus["corpus"]
        for document in corpus["documents"]:
            text = clean_text((root / document).read_text(encoding="utf-8"))
            title = title_of_text(text) or title_of_name(document)
            for row in split("", title, text, "zh", PASSAGE_TOKENS):
                prose = simplified(lay_out(row).prose.text)
                for sentence in read_sentences(prose, [plain_title(simplified(row["subject"]))]):
                    for first, last in name_runs(sentence.tokens):
                        name = clean(text_of(sentence.tokens[first:last]))
                        features = mention_features(sentence.tokens, first, last)
                        kind = kind_of.get(name, "")
                        mentions.append(
                            Mention(corpus["corpus"], "", name, kind, features, NOTHING)
                        )
    return mentions


def by_kind(pairs: list[tuple[np.ndarray, str]], least: float) -> dict[str, list[int]]:
    """Return names, names with a kind and names with the right one, by the kind they have."""
    counts: dict[str, list[int]] = {}
    for likely, kind in pairs:
        row = counts.setdefault(kind, [0, 0, 0])
        known = likely.max() >= least
        row[0] += 1
        row[1] += bool(known)
        row[2] += bool(known and guessed_kinds.GUESSED[likely.argmax()] == kind)
    return counts


def main() -> None:
    """Train, measure, and write the weights."""
    parser = parser_of(__doc__)
    parser.add_argument("folder", metavar="FOLDER", type=Path)
    folder = parser.parse_args().folder
    mentions = open_mentions(DATA, folder)
    design, weights, report = train(
        mentions, judged_mentions(DATA, folder, "training"), RIDGE, JUDGED_WEIGHT
    )
    unseen: dict[str, list[tuple[np.ndarray, str]]] = {}
    judged = judged_mentions(DATA, folder, "report")
    for corpus in sorted({mention.source for mention in judged}):
        own = [mention for mention in judged if mention.source == corpus]
        unseen[corpus] = judged_pairs(design, weights, own)
    for path in sorted({*folder.glob("*.iob2"), *folder.glob("weibo*")}):
        if "train" not in path.stem or "weibo" in path.name:
            own = [
                mention
                for document, text, kinds in tagged_texts(path)
                for mention in mentions_in(path.name, document, text, kinds, [])
            ]
            unseen[path.name] = judged_pairs(design, weights, own)
    report["repositories and texts that taught nothing"] = {
        name: shares(pairs) | {"names, guessed, right by kind": by_kind(pairs, 0.5)}
        for name, pairs in unseen.items()
    }
    write_weights(design, weights, WEIGHTS)
    print(json.dumps(report, indent=1, ensure_ascii=False))


if __name__ == "__main__":
    run_command(main)
