"""Multiple-choice questions.

Most have no label: where each question has its own choices, the letter of the right one is no
class. Questions without an answer, as in hidden test parts, are skipped.
"""

import re
from collections.abc import Iterable, Sequence
from typing import Any

from tasks.questions.formats.rows import BenchmarkItem, listed, reader, text, texts
from tasks.questions.question import BenchmarkQuestion, Outcome

_LETTERS = "ABCD"
_STEM_FIELDS = "a question, its choices with letters, and answerKey"
_INSTRUCTION = re.compile(r"question:\s*(.+?)\s*(?=Answer1:)(.+?)\s*Answer format:", re.DOTALL)
_NUMBERED = re.compile(r"\s*\bAnswer(\d+):\s*")
_MMLU_FILE = re.compile(r"(\w+)_(test|dev|val|train)\b")
_MMLU_GROUPS = {
    subject: group
    for group, subjects in {
        "STEM": "abstract_algebra anatomy astronomy college_biology college_chemistry "
        "college_computer_science college_mathematics college_physics computer_security "
        "conceptual_physics electrical_engineering elementary_mathematics high_school_biology "
        "high_school_chemistry high_school_computer_science high_school_mathematics "
        "high_school_physics high_school_statistics machine_learning",
        "humanities": "formal_logic high_school_european_history high_school_us_history "
        "high_school_world_history international_law jurisprudence logical_fallacies "
        "moral_disputes moral_scenarios philosophy prehistory professional_law world_religions",
        "social sciences": "econometrics high_school_geography "
        "high_school_government_and_politics high_school_macroeconomics "
        "high_school_microeconomics high_school_psychology human_sexuality "
        "professional_psychology public_relations security_studies sociology us_foreign_policy",
        "other": "business_ethics clinical_knowledge college_medicine global_facts human_aging "
        "management marketing medical_genetics miscellaneous nutrition professional_accounting "
        "professional_medicine virology",
    }.items()
    for subject in subjects.split()
}
_MIRAGE_SUBJECT = re.compile(r"(.+?)-\d+")
_ALONE, _HELPED = re.compile(r"cot_(.+)"), "rag32_{}"
_WORD = re.compile(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])|\d+")
_TOPIC = "about "
_SHARED = frozenset(
    ("yes", "no", "maybe", "true", "false", "correct", "wrong", "similar", "different")
)

Read = tuple[str, dict[str, str], str]  # stem, choices by letter, letter of the right one


def _shared_label(choices: Iterable[str], right: str) -> str | None:
    """Return the right choice in lower case as a class if the whole task shares the choices."""
    return right.casefold() if {choice.casefold() for choice in choices} <= _SHARED else None


# -- a stem, choices with letters, and `answerKey`; or instructions with numbered answers ---------


@reader("arc", _STEM_FIELDS)
def read_arc(item: BenchmarkItem) -> BenchmarkQuestion | None:
    """Return a question of ARC (Clark et al. 2018); the path says if it is easy or a challenge."""
    path = "/".join(item.file.parts[-3:]).lower()
    sets = [name for name in ("easy", "challenge") if name in path]
    return _with_stem(item.of(f"arc-{sets[0]}") if len(sets) == 1 else item)


@reader("openbookqa", _STEM_FIELDS, "openbookqa|obqa")
def read_openbookqa(item: BenchmarkItem) -> BenchmarkQuestion | None:
    """Return a question of OpenBookQA (Mihaylov et al. 2018); the core fact is its knowledge."""
    return _with_stem(item, knowledge=item.get("fact1") or None)


@reader("commonsenseqa", _STEM_FIELDS, "commonsense_?qa|csqa")
def read_commonsenseqa(item: BenchmarkItem) -> BenchmarkQuestion | None:
    """Return a question of CommonsenseQA (Talmor et al. 2019).

    The topic is the ConceptNet concept that it was made from.
    """
    question = item.get("question")
    concept = item.get("question_concept") or (
        question.get("question_concept") if isinstance(question, dict) else None
    )
    return _with_stem(item, topic=concept, split_key=concept or "")


def _with_stem(item: BenchmarkItem, **others: Any) -> BenchmarkQuestion | None:
    known = item.get("answerKey") or item.get("answer")
    if not known and (item.get("question") or item.get("question_stem")):
        return None
    stem, choices, right = _instruction(item) if "instruction" in item.values else _lettered(item)
    return item.question(stem, (choices[right],), choices=tuple(choices.values()), **others)


def _lettered(item: BenchmarkItem) -> Read:
    question: Any = item.get("question") or item["question_stem"]
    options = question["choices"] if isinstance(question, dict) else item["choices"]
    stem = question["stem"] if isinstance(question, dict) else question
    if isinstance(options, dict):
        choices = dict(zip(options["label"], map(text, options["text"]), strict=True))
    else:
        choices = {option["label"]: text(option["text"]) for option in options}
    return stem, choices, item["answerKey"]


def _instruction(item: BenchmarkItem) -> Read:
    match = _INSTRUCTION.search(item["instruction"])
    if not match:
        raise ValueError("no question with numbered answers")
    _, *parts = _NUMBERED.split(match[2])
    choices = dict(zip(parts[::2], parts[1::2], strict=True))
    return match[1], choices, item["answer"].removeprefix("answer")


# -- exams ----------------------------------------------------------------------------------------


@reader(
    "medqa",
    "question, options by letter, and answer or answer_idx",
    "medqa|questions|phrases|US_qbank|4_options",
)
def read_medqa(item: BenchmarkItem) -> BenchmarkQuestion:
    """Return a question of MedQA (Jin et al. 2021); `kind` is the exam's step."""
    options = item["options"]
    if not isinstance(options, dict):
        options = {option["key"]: option["value"] for option in options}
    right = options[item["answer_idx"]] if item.get("answer_idx") else item["answer"]
    choices = tuple(map(text, options.values()))
    return _exam(item, choices, text(right), str(item.get("meta_info", "")))


@reader(
    "mmlu",
    "a question, four choices and the right one's letter or number",
    "mmlu|_test|_dev|_val",
    {6: ("question", *_LETTERS, "answer")},
)
def read_mmlu(item: BenchmarkItem) -> BenchmarkQuestion:
    """Return a question of MMLU (Hendrycks et al. 2021).

    `kind` is the subject, from its field or the file's name; the subject's group is part of
    `dataset`. Only the test files are the test part: the five examples of each subject (dev) and
    the validation files are for training.
    """
    offered = item.values.get("choices") or [item[letter] for letter in _LETTERS]
    choices, place = tuple(map(text, offered)), item["answer"]
    place = _LETTERS.index(place) if isinstance(place, str) else int(place)
    named = _MMLU_FILE.search(item.file.name)
    kind = item.get("subject") or (named[1] if named else "")
    group = _MMLU_GROUPS.get("_".join(kind.split()).casefold(), "")
    dataset = f"mmlu {group}".strip()
    part = item.part if not named else "test" if named[2] == "test" else "train"
    return _exam(item, choices, choices[place], kind, dataset=dataset, part=part)


def _exam(
    item: BenchmarkItem, choices: tuple[str, ...], right: str, kind: str, **others: Any
) -> BenchmarkQuestion:
    if right not in choices:
        raise ValueError("the answer is none of the choices")
    return item.question(item["question"], (right,), choices=choices, kind=kind, **others)


@reader(
    "mirage", "dataset, question, options by letter and the answer's letter", "mirage|benchmark"
)
def read_mirage(item: BenchmarkItem) -> BenchmarkQuestion:
    """Return a medical question of MIRAGE (Xiong et al. 2024), five data sets with model answers.

    Each data set is a task. An item may hold `pred`: the letter that each model chose by its own
    reasoning (`cot_MODEL`) and with 32 retrieved snippets (`rag32_MODEL`); a missing letter is a
    wrong answer. The original `benchmark.json`, an object of data sets, has only the questions.
    """
    item = item.of(text(item.get("dataset") or item.group))
    options = {letter: text(option) for letter, option in item["options"].items()}
    right = options[item["answer"]]
    subject = _MIRAGE_SUBJECT.fullmatch(str(item.get("id", item.key)))
    chosen = item.get("pred", {})
    models = [match[1] for name in chosen if (match := _ALONE.fullmatch(name))]
    return item.question(
        item["question"],
        (right,),
        part="",
        choices=tuple(options.values()),
        kind=subject[1] if subject and item.dataset == "mmlu" else "",
        label=_shared_label(options.values(), right),
        outcomes=_outcomes(models, chosen, item["answer"]),
        own_answers=tuple((model, str(chosen[f"cot_{model}"] or "")) for model in models),
    )


def _outcomes(models: list[str], chosen: dict[str, Any], right: str) -> tuple[Outcome, ...]:
    """Return whether each model was right without and with snippets, if it answered both ways."""
    return tuple(
        (model, float(chosen[f"cot_{model}"] == right), float(chosen[helped] == right))
        for model in models
        if (helped := _HELPED.format(model)) in chosen
    )


# -- with knowledge -------------------------------------------------------------------------------


@reader("cikqa", "question, answers, knowledge and sourcelabel")
def read_cikqa(item: BenchmarkItem) -> BenchmarkQuestion:
    """Return a question of CIKQA (Zhang et al. 2023); `kind` is the source task.

    It has two candidates; the third element of `answers` means "unknown" and is no choice. The
    knowledge is a list of edges of commonsense graphs.
    """
    choices = tuple(map(text, item["answers"][:2]))
    right = choices[int(item["sourcelabel"])]
    knowledge = item.get("knowledge", [])
    if not isinstance(knowledge, str):
        knowledge = " ".join(map(_sentence, knowledge))
    return item.question(
        item["question"],
        (right,),
        id=item.id("idx"),
        choices=choices,
        kind=str(item.get("source", "")),
        label=_shared_label(choices, right),
        knowledge=knowledge or None,
    )


def _sentence(edge: Sequence[Any]) -> str:
    """Return an edge in words: head and tail, each with `$$` and a number, relation, weight."""
    head, tail, relation = (text(part).split("$$")[0] for part in edge[:3])
    return f"{head} {' '.join(_WORD.findall(relation)).lower()} {tail}."


@reader("thrust", "sent, knowledge, and option1, option2 and label (or ans)", "benchmark")
def read_thrust_files(item: BenchmarkItem) -> BenchmarkQuestion:
    """Return a question of one of the twelve tasks released with Thrust (Zhao et al. 2023).

    `mc_benchmark.json` holds multiple-choice questions, `benchmark.json` open ones: by task, then
    by part, items with either options and the number of the right one, or `ans`.
    """
    item = item.of(text(item.group.partition("/")[0]))
    choices = tuple(item[f"option{n}"] for n in range(1, 10) if item.get(f"option{n}"))
    label = None
    if not choices:
        answers = texts(listed(item.get("ans") or item["answer"]))
    else:
        answers = (choices[int(item["label"]) - 1],)
        topics = all(choice.startswith(_TOPIC) for choice in choices)
        label = answers[0] if topics else _shared_label(choices, answers[0])
    return item.question(
        item["sent"],
        answers,
        id=item.id(),
        choices=choices,
        label=label,
        knowledge=item.get("knowledge") or None,
    )
