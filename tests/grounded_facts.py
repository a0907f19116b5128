"""Facts that a model might report of short documents, and which of them are stored.

    python -m tests.grounded_facts [--show]

`grounded_facts.txt` was written before the grounding that it measures; rules were then changed
with all of it in view. `# language [lines] | title | date | author` begins a document, numbered
lines are its sentences, `=` an entity with its short names, `+` a fact that the text states and
`-` one that it does not: subject, predicate, object, the numbers of the sentences that state it,
`from` and `to`, `not`, how certain, and last what makes the fact hard: how the subject stands in
those sentences, or what is wrong.
"""

import re
import sys
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import orjson

from tasks.extract.by_model.evidence import shown
from tasks.extract.by_model.grounding import Grounded, ground
from tasks.extract.by_model.passages import PassageRow
from tasks.ingest.split import split
from tasks.models.prompts.replies import Extraction

FACTS = Path(__file__).with_name("grounded_facts.txt")
_SENTENCE = re.compile(r"(\d+) (.+)")
_DATES = re.compile(r"(?:from (?P<start>.+?))?(?: ?to (?P<end>.+))?")


@dataclass(frozen=True)
class Claim:
    """A fact that a model might report, and whether the text states it."""

    row: tuple[str, str, str]
    sentences: tuple[int, ...]
    start: str
    end: str
    negated: bool
    certain: str
    is_stated: bool
    why: str


@dataclass
class Document:
    """A short text with the claims about it."""

    language: str
    title: str
    date: str
    author: str
    sentences: list[str] = field(default_factory=list)
    joint: str = " "
    entities: list[list[str]] = field(default_factory=list)
    claims: list[Claim] = field(default_factory=list)

    def passages(self) -> list[PassageRow]:
        """Return the passages of the text, as a refresh gives them to a model."""
        text = self.joint.join(self.sentences)
        rows = split(self.title, self.title, text, self.language, 160)
        metadata = orjson.dumps({"date": self.date, "author": self.author}).decode()
        more = {"document_id": "d", "sensitive": False, "metadata": metadata}
        return [{**row, **more, "place": place} for place, row in enumerate(rows, 1)]


def read_documents() -> Iterator[Document]:
    """Yield the documents with their claims."""
    document: Document | None = None
    for line in FACTS.read_text(encoding="utf-8").splitlines():
        if line.startswith("# "):
            form, title, date, author = map(str.strip, line[2:].split(" | "))
            language, _, lines = form.partition(" ")
            document = Document(language, title, date, author)
            document.joint = "\n" if lines else "" if language == "zh" else " "
        elif document and line.startswith("= "):
            names = [name.strip() for name in line[2:].split(";")]
            first, _, kind = names[0].removesuffix(")").rpartition(" (")
            document.entities.append([first, kind, *names[1:]])
        elif document and line[:2] in ("+ ", "- "):
            document.claims.append(_claim(line))
        elif document and (sentence := _SENTENCE.fullmatch(line)):
            document.sentences.append(sentence[2])
        elif document and not line:
            yield document
            document = None
    if document:
        yield document


def _claim(line: str) -> Claim:
    s, p, o, sentences, *more, why = map(str.strip, line[2:].split(" | "))
    dates = next((d for m in more if (d := _DATES.fullmatch(m)) and d[0]), None)
    certain = next((m for m in more if m in ("possible", "expected")), "")
    return Claim(
        (s, p, o),
        tuple(map(int, sentences.split(","))),
        (dates and dates["start"]) or "",
        (dates and dates["end"]) or "",
        "not" in more,
        certain,
        line.startswith("+"),
        why,
    )


def grounded(document: Document, claim: Claim) -> Grounded:
    """Return what is stored of a reply with the document's entities and one claim."""
    rows = document.passages()
    given = [words for _, words in shown(rows)]
    cited = [
        str(number)
        for sentence in claim.sentences
        for number, words in enumerate(given, 1)
        if letters(words) in (whole := letters(document.sentences[sentence - 1]))
        or whole in letters(words)
    ]
    triple = [
        *claim.row, ",".join(cited), claim.start, claim.end, "not" * claim.negated,
        {"expected": "future"}.get(claim.certain, claim.certain),
    ]  # fmt: skip
    entities = [[name, kind, "", "", *others] for name, kind, *others in document.entities]
    reply = {"entities": entities, "triples": [triple], "aspects": []}
    return ground([(Extraction.model_validate(reply), rows)], rows)


def letters(words: str) -> str:
    """Return the letters and digits of a sentence, however the reading of Markdown changed it."""
    return "".join(filter(str.isalnum, words))


def is_stored(found: Grounded, claim: Claim) -> bool:
    """Return whether a claim is stored with the times that it has."""
    if any(rejected.form == "time" for rejected in found.rejected):
        return False
    return any(extracted.triples for extracted in found.extracted)


def main() -> None:
    """Print how many true claims are kept and how many others are accepted, by document halves."""
    counts: Counter[tuple[str, bool, bool]] = Counter()
    reasons: Counter[tuple[bool, str]] = Counter()
    for number, document in enumerate(read_documents()):
        for claim in document.claims:
            found = grounded(document, claim)
            stored = is_stored(found, claim)
            for half in ("all", ("even", "odd")[number % 2], claim.why, document.language):
                counts[half, claim.is_stated, stored] += 1
            if stored != claim.is_stated:
                forms = ("triple", "time")
                reason = next((r.reason for r in found.rejected if r.form in forms), "")
                reasons[claim.is_stated, reason or f"accepted: {claim.why}"] += 1
                if "--show" in sys.argv:
                    words = " | ".join(claim.row)
                    quoted = [document.sentences[n - 1] for n in claim.sentences]
                    print(number, "lost" if claim.is_stated else "let in", claim.why, reason)
                    print("   ", words, "<-", *quoted)
    for part in dict.fromkeys(part for part, _, _ in counts):
        kept, lost = counts[part, True, True], counts[part, True, False]
        accepted, refused = counts[part, False, True], counts[part, False, False]
        print(
            f"{part:9} true: {kept} of {kept + lost} kept, "
            f"others: {accepted} of {accepted + refused} accepted"
        )
    print(dict(reasons))


if __name__ == "__main__":
    main()
