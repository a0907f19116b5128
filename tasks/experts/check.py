"""The check of an expert: it is asked what it should know, and its manifest gets the outcome.

An expert whose training texts or graph give no questions is only asked whether it reads plain
language better than a model that holds all tokens for equally likely.
"""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import duckdb

from schemas.learning import VerbalizedText
from tasks.experts.competence import (
    SAMPLES,
    AskedOf,
    Competence,
    calibrated,
    commonest,
    features_of,
    invented_names,
    languages_of,
    likelihoods,
    share_known,
)
from tasks.experts.field import Field
from tasks.experts.knowledge import prompt_of
from tasks.experts.manifest import Manifest, sha_of, write_manifest
from tasks.experts.pool import ExpertPool, OpenExpert
from tasks.questions.normalise import bare_words
from warehouse.home import Home
from warehouse.journal_views import register

MOST_QUESTIONS = 200
# For a model of more than LARGE weights, which answers slowly, and for one that knows none of them.
FEW_QUESTIONS = 40
LARGE = 20_000_000
SAMPLED = 3  # texts beside the likeliest, as the setting `written` has it
ANSWER_TOKENS = 48
OTHERS = 4  # names that stand in for the subject of a question
CLEARLY = 0.8  # share of a uniform model's loss, in nats per token
PLAIN = (
    (
        "The weather was cold yesterday, so we stayed at home and read a book.",
        "She bought some bread and milk at the shop before she went to work.",
        "The old house by the river was built more than a hundred years ago.",
    ),
    (
        "昨天天气很冷，所以我们待在家里看书。",
        "她上班之前在商店买了一些面包和牛奶。",
        "河边的那座老房子是一百多年前建的。",
    ),
)


@dataclass(frozen=True, slots=True)
class CheckQuestion:
    """A text of the check: a question that names its subject, and its answer."""

    text: str
    subject: str

    @property
    def prompt(self) -> str:
        """The question as the expert is asked it."""
        return prompt_of(self.text)

    @property
    def answer(self) -> str:
        """The answer that is right."""
        return self.text[len(self.prompt) :].strip()


def check_expert(
    folder: Path,
    about: dict[str, Any],
    questions: Sequence[CheckQuestion],
    names: Iterable[str],
    device: str | None = None,
) -> Manifest:
    """Ask an expert questions about what it knows; write its names and its manifest, and return it.

    `about` has the manifest's fields. `names` are all names that the expert was asked about in
    training. Without questions the manifest has no competence.
    """
    if not questions:
        return write_manifest(folder, **about)
    field = Field.of(names)
    field.save(folder)
    large = write_manifest(folder, **about).parameters > LARGE
    pool = ExpertPool([OpenExpert("checked", "", folder, sha_of(folder))], device=device)
    few = questions[:FEW_QUESTIONS]
    some = few if large or not any(_right(pool, few)) else questions[:MOST_QUESTIONS]
    prompts = [question.prompt for question in some]
    likeliest = pool.write("checked", prompts, temperature=0, max_new_tokens=ANSWER_TOKENS)
    sampled = pool.write("checked", prompts, SAMPLED, max_new_tokens=ANSWER_TOKENS)
    asked, is_right = [], []
    for question, one, more in zip(some, likeliest, sampled, strict=True):
        answer, agreement = commonest([text.partition("\n")[0].strip() for text in (*one, *more)])
        asked.append(AskedOf(question.prompt, question.subject, answer, agreement))
        is_right.append(_says(answer, question))
    others = invented_names([question.subject for question in questions], field, OTHERS)
    competence = calibrated(
        features_of(pool.model("checked"), asked, others),
        is_right,
        right=round(share_known(is_right, [question.answer for question in some]), 4),
        others=tuple(others),
        samples=tuple((question.text, question.subject) for question in some[:SAMPLES]),
        languages=languages_of(prompts),
    )
    return write_manifest(folder, **about, competence=competence)


def keeps_its_word(folder: Path, competence: Competence) -> bool:
    """Return whether an expert knows half as much of its manifest's samples as that says."""
    pool = ExpertPool([OpenExpert("checked", "", folder, sha_of(folder))], device="cpu")
    samples = [CheckQuestion(*sample) for sample in competence.samples]
    known = share_known(_right(pool, samples), [sample.answer for sample in samples])
    return known >= competence.right / 2


def _right(pool: ExpertPool, questions: Sequence[CheckQuestion]) -> list[bool]:
    """Return which questions the expert's likeliest answer answers right."""
    prompts = [question.prompt for question in questions]
    texts = pool.write("checked", prompts, temperature=0, max_new_tokens=ANSWER_TOKENS)
    return [_says(text, question) for [text], question in zip(texts, questions, strict=True)]


def _says(text: str, question: CheckQuestion) -> bool:
    return bare_words(text.partition("\n")[0]) == bare_words(question.answer)


def reads_plain_language(folder: Path) -> bool:
    """Return whether an expert predicts plain sentences clearly better than a uniform model.

    The sentences are English and Chinese; it may know one language alone.
    """
    pool = ExpertPool([OpenExpert("checked", "", folder, sha_of(folder))], device="cpu")
    model = pool.model("checked")
    losses = [-likelihoods(model, sentences).mean() for sentences in PLAIN]
    return bool(min(losses) < CLEARLY * math.log(len(model.tokenizer)))


def journal_questions(
    home: Home, ids: Sequence[str], position: int, splits: Sequence[str]
) -> tuple[list[CheckQuestion], list[str]]:
    """Return the questions with which an expert on these verbalizations is checked.

    With them come all names of things that the questions of some splits are about.
    """
    # Constants of this function; values are parameters.
    texts = "from j_verbalized_texts where subject is not null "
    texts += "and verbalization_id in (select unnest($ids)) and split in (select unnest($splits))"
    with home.journal.pinned(), duckdb.connect(":memory:") as con:
        register(home.journal, [VerbalizedText], con, position)
        checks = {"ids": list(ids), "splits": ["check"]}
        rows = con.execute(f"select text, subject {texts} order by text_id", checks).fetchall()
        names = con.execute(
            f"select distinct subject {texts} order by subject",
            {**checks, "splits": list(splits)},
        ).fetchall()
        return [CheckQuestion(*row) for row in rows], [name for [name] in names]
