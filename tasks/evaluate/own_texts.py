"""Questions with their own texts: each is answered from an edition built from its texts.

KnowledGPT measured its personal knowledge base on HotpotQA in this way (section 4.4), and by the
coverage of a document: the share of its content words, as a set of lemmas, that its extracted facts
contain. The paper does not define content words; here they are all tokens with a letter or digit
that are not stop words, lower-cased and lemmatised by the English pipeline.
"""

import re
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING

from schemas.errors import AlmanacError
from schemas.knowledge import CORPUS
from schemas.settings import Settings
from tasks.evaluate.answerer import BenchmarkAnswerer, Prediction, System
from tasks.evaluate.found_documents import DocumentSearch
from tasks.questions.question import BenchmarkQuestion
from tasks.refresh import refresh
from warehouse.editions import Edition
from warehouse.home import Home

if TYPE_CHECKING:
    from spacy.tokens import Doc

TOKEN = re.compile(r"\w+")
_FACTS = """
select d.uri, f.text from mentions m join documents d using (document_id) join (
    select 'triple' as kind, triple_id as id, concat_ws(' ', head, relation, tail) as text
    from triples
    union all select 'description', description_id, text from descriptions
    union all select 'aspect', aspect_id, text from aspects
) f on f.kind = m.fact_kind and f.id = m.fact_id
"""


class EditionPerQuestion:
    """A small edition per question, built from its texts when it is first needed."""

    def __init__(self, folder: Path, settings: Settings) -> None:
        self._folder = folder
        self._settings = settings
        self._editions: dict[str, Edition] = {}

    def edition(self, question: BenchmarkQuestion) -> Edition:
        """Return the edition built from a question's texts."""
        if question.id not in self._editions:
            place = self._folder / f"{len(self._editions):05d}"
            self._editions[question.id] = self._make(place, question.context)
        return self._editions[question.id]

    def search(self, question: BenchmarkQuestion) -> DocumentSearch:
        """Return the search of the edition built from a question's texts."""
        return DocumentSearch(self.edition(question), self._settings.engine)

    def coverage(self, question: BenchmarkQuestion) -> float:
        """Return the mean share of a text's content words that was extracted from it."""
        from tasks.extract.english_pipeline.load import load_english

        nlp, extracted = load_english(), _extracted(self.edition(question))
        shares = [
            coverage(content_lemmas(nlp(text)), extracted.get(_file_name(number), []))
            for number, (_, text) in enumerate(question.context)
        ]
        return sum(shares) / len(shares) if shares else 0.0

    def _make(self, place: Path, texts: Sequence[tuple[str, str]]) -> Edition:
        source = place / "texts"
        source.mkdir(parents=True)
        for number, (title, text) in enumerate(texts):
            heading = " ".join(title.split())
            (source / _file_name(number)).write_text(f"# {heading}\n\n{text}\n", encoding="utf-8")
        home = Home(place / "home")
        refresh(home, [str(source)], self._settings)
        edition = home.editions.current()
        if edition is None:
            raise AlmanacError(f"Nothing could be read from the texts in {source}.")
        return edition


def _file_name(number: int) -> str:
    return f"{number:03d}.md"


def _extracted(edition: Edition) -> dict[str, list[str]]:
    facts: dict[str, list[str]] = defaultdict(list)
    with edition.connect() as con:
        for uri, text in con.execute(_FACTS).fetchall():
            facts[PurePosixPath(uri).name].append(text)
    return facts


class OwnTextsAnswerer(BenchmarkAnswerer):
    """Lets a system answer every question from the edition built from its own texts."""

    def __init__(self, system: System, editions: EditionPerQuestion) -> None:
        self.name = "own texts"  # the system's own name as soon as there is one
        self._system, self._editions = system, editions

    def answer_all(self, questions: Sequence[BenchmarkQuestion]) -> list[Prediction]:
        """Return an answer to each question, with the coverage of its texts."""
        return [self._answer(question) for question in questions]

    def _answer(self, question: BenchmarkQuestion) -> Prediction:
        answerer = self._system(self._editions.edition(question))
        self.name = answerer.name
        alone = replace(question, context=(), graph=CORPUS)
        return replace(
            answerer.answer_all([alone])[0],
            coverage=self._editions.coverage(question),
            found=self._editions.search(question).found(alone),
        )


def content_lemmas(doc: "Doc") -> dict[str, str]:
    """Return the content words of a parsed document in lower case, each with its lemma."""
    from spacy.lang.en.stop_words import STOP_WORDS

    words: dict[str, str] = {}
    for token in doc:
        for part in TOKEN.findall(token.lower_):
            if part not in STOP_WORDS and len(part) > 1:
                whole = part == token.lower_
                words.setdefault(part, token.lemma_.lower() if whole else part)
    return words


def coverage(words: Mapping[str, str], texts: Iterable[str]) -> float:
    """Return the share of the document's lemmas that the texts contain; 1 if it has none."""
    lemmas = set(words.values())
    if not lemmas:
        return 1.0
    tokens = {part for text in texts for part in TOKEN.findall(text.lower())}
    covered = {words[token] for token in tokens if token in words} | (tokens & lemmas)
    return len(covered) / len(lemmas)
