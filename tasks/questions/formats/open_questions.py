"""Questions with free answers, in the forms used for open question answering.

Apart from their original forms, they can be read as objects with question and answers, tables of a
question and a list of answers, and objects with `positive_ctxs`.
"""

import re
from collections.abc import Iterator, Sequence
from typing import Any

from tasks.questions.answer_patterns import readings
from tasks.questions.formats.rows import BenchmarkItem, listed, reader, text, texts
from tasks.questions.normalise import bare_words
from tasks.questions.question import BenchmarkQuestion

LONGEST_PASSAGE = 6_000  # characters of evidence, more than any model receives
_COLUMNS = {2: ("question", "answer")}
_TREC_COLUMNS = _COLUMNS | {4: ("qId", "type", "question", "answer")}
_DESCRIPTION = re.compile(r'\(description (?:"((?:[^"\\]|\\.)*)"|([^()"]*))\)')
_NO_ANSWER = "<unk>"
_TAG = "<"

Span = tuple[int, int]


@reader(
    "nq",
    "a question with answers, or question_text with annotations and the document",
    r"nq|natural[_-]?questions|simplified",
    _COLUMNS,
)
def read_nq(item: BenchmarkItem) -> BenchmarkQuestion | None:
    """Return a question of NQ (Kwiatkowski et al. 2019) with short answers, or yes and no.

    The long answer is its knowledge.
    """
    if "annotations" not in item.values:
        return _open(item)
    question, answers, knowledge = _annotated(item.values)
    return _question(item, question, answers, knowledge) if answers else None


def _annotated(item: dict[str, Any]) -> tuple[str, tuple[str, ...], str | None]:
    """Return question, short answers of all annotators, and the first long answer's text.

    Without short answers, the answer is an annotator's yes or no. The original, the simplified and
    the columnar form (`document`, `question`, `annotations`) can be read.
    """
    question = item.get("question_text") or item["question"]["text"]
    tokens, spans_of = _tokens(item), _annotations(item["annotations"])
    short = [span for spans, _, _ in spans_of for span in spans]
    answers = [" ".join(_words(tokens, span)) for span in short]
    if not any(answers):
        answers = [verdict for _, _, verdict in spans_of if verdict in ("yes", "no")]
    long = next((span for _, span, _ in spans_of if span[0] >= 0), None)
    knowledge = " ".join(_words(tokens, long)) if long else None
    return text(question), tuple(dict.fromkeys(filter(None, answers))), knowledge or None


def _tokens(item: dict[str, Any]) -> Sequence[str]:
    """Return the document's tokens, with markup tokens as tags."""
    if "document_text" in item:
        return str(item["document_text"]).split(" ")
    if "document_tokens" in item:
        return [_TAG if row["html_token"] else row["token"] for row in item["document_tokens"]]
    columns = item["document"]["tokens"]
    pairs = zip(columns["token"], columns["is_html"], strict=True)
    return [_TAG if is_html else token for token, is_html in pairs]


def _annotations(rows: Any) -> list[tuple[list[Span], Span, str]]:
    """Return each annotator's short spans, long span, and yes, no or none."""
    if isinstance(rows, dict):  # the columnar form
        verdicts = [{0: "no", 1: "yes"}.get(verdict, "none") for verdict in rows["yes_no_answer"]]
        spans = (zip(s["start_token"], s["end_token"], strict=True) for s in rows["short_answers"])
        longs = map(_span, rows["long_answer"])
        return list(zip(map(list, spans), longs, verdicts, strict=True))
    verdicts = [str(row.get("yes_no_answer", "none")).lower() for row in rows]
    short = ([_span(span) for span in row["short_answers"]] for row in rows)
    return list(zip(short, (_span(row["long_answer"]) for row in rows), verdicts, strict=True))


def _span(answer: dict[str, Any]) -> Span:
    return int(answer["start_token"]), int(answer["end_token"])


def _words(tokens: Sequence[str], span: Span) -> list[str]:
    start, end = span
    if not 0 <= start <= end <= len(tokens):
        raise ValueError("a span outside the document")
    return [token for token in tokens[start:end] if token and not token.startswith(_TAG)]


@reader("webquestions", "utterance and targetValue, or question and answers", "web_?q", _COLUMNS)
def read_webquestions(item: BenchmarkItem) -> BenchmarkQuestion:
    """Return a question of WebQuestions (Berant et al. 2013).

    The topic is the Freebase page that it comes from.
    """
    topic = str(item.get("url", "")).rpartition("/")[2].replace("_", " ")
    if "targetValue" not in item.values:
        return _open(item, topic)
    names = (quoted or bare for quoted, bare in _DESCRIPTION.findall(item["targetValue"]))
    answers = texts([re.sub(r"\\(.)", r"\1", name) for name in names])
    return _question(item, item["utterance"], answers, topic=topic)


@reader(
    "triviaqa",
    "a question and its answer with aliases",
    "trivia|wikipedia-|web-|qa",
    _COLUMNS,
)
def read_triviaqa(item: BenchmarkItem) -> BenchmarkQuestion | None:
    """Return a question of TriviaQA (Joshi et al. 2017) with all names of its answer.

    Its knowledge is the first paragraph of the file's evidence that holds an answer.
    """
    answer = item.get("Answer") or item.get("answer")
    if not isinstance(answer, dict):
        return None if "Question" in item.values else _open(item)
    value, aliases = (answer.get(n) or answer.get(n.lower()) or [] for n in ("Value", "Aliases"))
    if value == _NO_ANSWER:
        return None
    answers = texts([text(value), *aliases])
    question = item.get("Question") or item["question"]
    return _question(item, question, answers, _holding(_evidence(item), answers))


def _open(item: BenchmarkItem, topic: str = "") -> BenchmarkQuestion:
    answers = texts(listed(item.get("answers") or item["answer"]))
    contexts = item.get("positive_ctxs", [])
    knowledge = contexts[0]["text"] if contexts else None
    return _question(item, item["question"], answers, knowledge, topic)


def _question(
    item: BenchmarkItem,
    question: Any,
    answers: tuple[str, ...],
    knowledge: str | None = None,
    topic: str = "",
) -> BenchmarkQuestion:
    return item.question(
        question,
        answers,
        id=item.id("id", "example_id", "question_id", "QuestionId"),
        topic=topic or None,
        split_key=topic,
        knowledge=knowledge[:LONGEST_PASSAGE] if knowledge else None,
    )


def _evidence(item: BenchmarkItem) -> Iterator[str]:
    """Yield the texts of pages and search results, whichever the file has."""
    for list_name, names in (
        ("entity_pages", ("wiki_context",)),
        ("search_results", ("search_context", "description")),
        ("SearchResults", ("Description",)),
    ):
        rows = item.get(list_name, [])
        for name in names:
            contents = rows.get(name, []) if isinstance(rows, dict) else (r.get(name) for r in rows)
            yield from filter(None, contents)


def _holding(evidence: Iterator[str], answers: tuple[str, ...]) -> str | None:
    wanted = [f" {bare_words(answer)} " for answer in answers]
    for document in evidence:
        for paragraph in document.split("\n"):
            bare = f" {bare_words(paragraph[:LONGEST_PASSAGE])} " if paragraph.strip() else ""
            if any(words in bare for words in wanted):
                return paragraph.strip()
    return None


@reader("curatedtrec", "a question and patterns of its answer", "(curated)?trec", _TREC_COLUMNS)
def read_curatedtrec(item: BenchmarkItem) -> BenchmarkQuestion:
    """Return a question of CuratedTREC (Baudis and Sedivy 2015), whose answers are patterns.

    Its answers are plain readings of these regular expressions.
    """
    patterns = texts(listed(item.get("answer") or item.get("answers")))
    return item.question(
        item.get("question") or item.get("qText"),
        tuple(dict.fromkeys(t for pattern in patterns for t in readings(pattern))),
        id=item.id("qId", "id"),
        patterns=patterns,
    )


@reader("popqa", "a question (or input) and answers (or output)")
def read_popqa(item: BenchmarkItem) -> BenchmarkQuestion:
    """Return a question of PopQA (Mallen et al. 2023); `kind` is the relation.

    Its popularity is `s_pop`, the page views of its subject per month.
    """
    popularity = item.get("s_pop")
    return item.question(
        item.get("question") or item["input"],
        texts(listed(item.get("possible_answers") or item["output"])),
        topic=item.get("subj") or None,
        kind=str(item.get("prop", "")),
        split_key=str(item.get("subj", "")),
        popularity=None if popularity in (None, "") else float(popularity),
    )


@reader("wikidyk", "input, output and fact")
def read_wikidyk(item: BenchmarkItem) -> BenchmarkQuestion:
    """Return a question of WikiDYK with the fact that it was made from; `kind` is the year."""
    return item.question(
        item["input"],
        texts(listed(item["output"])),
        kind=str(item.get("year", "")),
        knowledge=item.get("fact"),
    )


_MULTIHOP = "question, answer, supporting_facts and context"


@reader("hotpotqa", _MULTIHOP, "hotpot(?!.*corpus)")
def read_hotpotqa(item: BenchmarkItem) -> BenchmarkQuestion:
    """Return a question of HotpotQA (Yang et al. 2018) with its paragraphs.

    `kind` is bridge or comparison. The knowledge consists of the supporting paragraphs.
    """
    return _supported(item)


@reader("2wiki", f"{_MULTIHOP}, or question and gold", "2wiki(?!.*corpus)")
def read_2wiki(item: BenchmarkItem) -> BenchmarkQuestion:
    """Return a question of 2WikiMultiHopQA (Ho et al. 2020), whose files are like HotpotQA's.

    Those with only the titles to find have no answers, so only their retrieval can be measured.
    """
    if "context" in item.values:
        return _supported(item)
    answers = texts(item["answer"]) if item.get("answer") else ()
    return item.question(item["question"], answers, gold=texts(item["gold"]))


@reader("musique", "question, answer and paragraphs (title, paragraph_text)", "musique(?!.*corpus)")
def read_musique(item: BenchmarkItem) -> BenchmarkQuestion:
    """Return a question of MuSiQue (Trivedi et al. 2022) with its paragraphs.

    `kind` is the shape of its hops, such as 3hop1. Where the paragraphs do not answer it, it has no
    answers. The knowledge consists of the supporting paragraphs.
    """
    id_, rows = text(item["id"]), item["paragraphs"]
    context = tuple((text(row["title"]), text(row["paragraph_text"])) for row in rows)
    support = [place for place, row in enumerate(rows) if row.get("is_supporting")]
    answers = texts([text(item["answer"]), *item.get("answer_aliases", [])])
    answerable = item.get("answerable", True)
    return item.question(
        item["question"],
        answers if answerable else (),
        id=f"musique/{id_}" if answerable else f"musique/{id_}/unanswerable",  # both may be there
        kind=id_.partition("__")[0],
        gold=tuple(dict.fromkeys(context[place][0] for place in support)),
        context=context,
        knowledge="\n".join(": ".join(context[place]) for place in support) or None,
    )


def _supported(item: BenchmarkItem) -> BenchmarkQuestion:
    """Return a question with its paragraphs and the titles of those that support its answer."""
    titles = [title for title, _ in _pairs(item["supporting_facts"], "title", "sent_id")]
    paragraphs = _pairs(item["context"], "title", "sentences")
    context = tuple((title, "".join(sentences).strip()) for title, sentences in paragraphs)
    support = (f"{title}: {paragraph}" for title, paragraph in context if title in titles)
    return item.question(
        item["question"],
        (text(item["answer"]),),
        id=str(item.get("_id") or item.get("id") or f"{item.dataset}/{item.number}"),
        kind=item.get("type", ""),
        gold=tuple(dict.fromkeys(titles)),
        context=context,
        knowledge="\n".join(support) or None,
    )


def _pairs(value: Any, first: str, second: str) -> list[tuple[str, Any]]:
    """Return pairs from a list of pairs or from two columns."""
    if isinstance(value, dict):
        return list(zip(value[first], value[second], strict=True))
    return [(title, content) for title, content in value]
