"""Texts to classify: AG News, e-SNLI, LUN, and the claims of FEVER; yes-no questions."""

import html
from typing import Any

from tasks.questions.formats.rows import BenchmarkItem, reader, text
from tasks.questions.question import BenchmarkQuestion, Part

TOPICS = ("World", "Sports", "Business", "Sci/Tech")
RELATIONS = ("entailment", "neutral", "contradiction")
YES_NO = ("yes", "no")
_VERDICTS = {
    "SUPPORTS": "supported",
    "REFUTES": "refuted",
    "NOT ENOUGH INFO": "not enough information",
    "DISPUTED": "disputed",
}
NEWS_TRUTHS = ("true", "false")
NEWS_KINDS = ("satire", "hoax", "propaganda", "trusted")
_TRUTHS = {"true": "yes", "yes": "yes", "1": "yes", "false": "no", "no": "no", "0": "no"}


@reader(
    "agnews",
    "a topic of 1 to 4, title and description (or text and a label of 0 to 3)",
    r"ag[_-]?news",
    {3: ("Class Index", "Title", "Description")},
)
def read_agnews(item: BenchmarkItem) -> BenchmarkQuestion:
    """Return a question about a news item's topic, its class (AG News, Zhang et al. 2015)."""
    if "label" in item.values:
        place, content = int(item["label"]), item["text"]
    else:
        place, content = int(item["Class Index"]) - 1, f"{item['Title']}. {item['Description']}"
    if not 0 <= place < len(TOPICS):
        raise ValueError("no such topic")
    news = " ".join(html.unescape(text(content).replace("\\", " ")).split())
    return item.question(
        f"{news}\nIs this news about the world, sports, business, or science?",
        (TOPICS[place],),
        id=item.id(),
        choices=TOPICS,
        label=TOPICS[place],
    )


@reader(
    "lun",
    "a text and its label: true or false; or satire, hoax, propaganda, trusted (or 1 to 4)",
    "lun|fulltrain|balancedtest",
    {2: ("label", "text")},
)
def read_lun(item: BenchmarkItem) -> BenchmarkQuestion:
    """Return a question about a news item's honesty (LUN, Rashkin et al. 2017).

    Released tables have numbers as labels. CooK's files (Feng et al. 2024) ask for two classes or
    for four; their list `demos` is the training part.
    """
    label = str(item["label"]).strip().casefold()
    label = NEWS_KINDS[int(label) - 1] if label in ("1", "2", "3", "4") else label
    choices = NEWS_TRUTHS if label in NEWS_TRUTHS else NEWS_KINDS
    if label not in choices:
        raise ValueError("no such class")
    words = "true or false" if choices is NEWS_TRUTHS else "satire, a hoax, propaganda, or trusted"
    item = item.of(f"lun {len(choices)}-way")
    parts: dict[str, Part] = {"demos": "train", "testset": "test"}
    return item.question(
        f"{text(item['text'])}\nIs this news {words}?",
        (label,),
        id=f"{item.dataset}/{item.group or item.file.name}/{item.get('id', item.number)}",
        part=parts.get(item.group, item.part),
        choices=choices,
        label=label,
    )


@reader(
    "esnli",
    "gold_label, Sentence1 and Sentence2 (or premise, hypothesis and a label of 0 to 2)",
    "e-?snli",
)
def read_esnli(item: BenchmarkItem) -> BenchmarkQuestion | None:
    """Return a pair of sentences with its first explanation (e-SNLI, Camburu et al. 2018).

    The split key is the premise. Pairs on which the annotators did not agree are skipped.
    """
    gold = item.get("gold_label", item.values.get("label"))
    if str(gold) in ("-", "-1"):
        return None
    place = int(gold) if str(gold).isdecimal() else RELATIONS.index(gold)
    relation = RELATIONS[place]
    premise = text(item.get("Sentence1") or item["premise"])
    hypothesis = text(item.get("Sentence2") or item["hypothesis"])
    return item.question(
        f"{premise}\n{hypothesis}\nDoes the second sentence follow from the first "
        "(entailment), contradict it (contradiction), or neither (neutral)?",
        (relation,),
        id=item.id("pairID"),
        choices=RELATIONS,
        split_key=premise,
        label=relation,
        knowledge=item.get("Explanation_1") or item.get("explanation_1") or None,
    )


@reader(
    "fever",
    "a claim and its label (SUPPORTS, REFUTES or NOT ENOUGH INFO)",
    "fever|paper_|shared_task_",
)
def read_fever(item: BenchmarkItem) -> BenchmarkQuestion | None:
    """Return a claim with its evidence; without a label, as in hidden test parts, it is skipped.

    FEVER (Thorne et al. 2018), its symmetric set (Schuster et al. 2019), and Climate-FEVER, which
    has a fourth verdict.
    """
    claim = text(item["claim"])
    label = item.get("label") or item.get("gold_label") or item.get("claim_label")
    if label is None:
        return None
    verdict = _VERDICTS[label.replace("_", " ")]
    item = item.of("climate-fever") if "claim_label" in item.values else item
    titles, knowledge = _evidence(item)
    return item.question(
        f"{claim}\nIs this claim supported or refuted?",
        (verdict,),
        id=item.id("id", "claim_id"),
        choices=tuple(_VERDICTS.values())[: 3 if item.dataset == "fever" else 4],
        gold=titles,
        split_key=claim,
        label=verdict,
        knowledge=knowledge,
    )


def _evidence(item: BenchmarkItem) -> tuple[tuple[str, ...], str | None]:
    """Return titles and text: FEVER has titles, the symmetric set text, the climate set both."""
    evidence: Any = item.get("evidence") or item.get("evidences") or []
    if isinstance(evidence, str):
        return (), evidence
    if all(isinstance(row, dict) for row in evidence):
        titles = dict.fromkeys(text(row["article"]) for row in evidence)
        return tuple(titles), " ".join(text(row["evidence"]) for row in evidence) or None
    named = (row[2] for group in evidence for row in group if row[2])
    return tuple(dict.fromkeys(title.replace("_", " ") for title in named)), None


@reader(
    "strategyqa",
    "question and answer (true or false)",
    "strategy_?qa(?!.*(paragraphs|filtered))",
)
def read_strategyqa(item: BenchmarkItem) -> BenchmarkQuestion | None:
    """Return a question with the facts that decide it (StrategyQA, Geva et al. 2021).

    The topic is the term that the question was written about.
    """
    facts = item.get("facts", "")
    knowledge = facts if isinstance(facts, str) else " ".join(map(text, facts))
    topic = item.get("term", "")
    return _yes_no(item, "qid", item.get("answer"), knowledge, topic)


@reader("boolq", "question, passage and answer (true or false)", "bool_?q")
def read_boolq(item: BenchmarkItem) -> BenchmarkQuestion | None:
    """Return a question with its passage (BoolQ, Clark et al. 2019)."""
    answer, topic = item.get("answer", item.get("label")), item.get("title", "")
    return _yes_no(item, "idx", answer, item["passage"], topic)


def _yes_no(
    item: BenchmarkItem, number: str, answer: Any, knowledge: str, topic: str
) -> BenchmarkQuestion | None:
    """Return a yes-no question; None if it has no answer."""
    question = text(item["question"])
    if answer is None or answer == -1:
        return None
    right = _TRUTHS[str(answer).casefold()]
    return item.question(
        question,
        (right,),
        id=f"{item.dataset}/{item[number]}" if item.get(number, "") != "" else item.id(),
        choices=YES_NO,
        topic=topic or None,
        split_key=topic,
        label=right,
        knowledge=knowledge or None,
    )
