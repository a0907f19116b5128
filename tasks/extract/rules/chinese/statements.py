"""Statements: Chinese clauses in the words of their sentence, and how they are meant."""

from tasks.extract.extracted import evidence_columns
from tasks.extract.rules.chinese.clauses import Clause
from tasks.extract.rules.chinese.lexicon import AND, COPULAS, MODALITY_OF_WORD, NEGATIONS
from tasks.extract.rules.chinese.naming import TypedName
from tasks.extract.rules.chinese.passage import LONGEST_NAME, PassageReading, share, usable
from tasks.extract.rules.chinese.standing import Meant
from tasks.extract.rules.chinese.statement import words
from tasks.extract.rules.chinese.tokens import Token, text_of
from tasks.extract.rules.chinese.whole import HANDLING

LONGEST_OBJECT = 200  # characters
ALONE = frozenset("该此本各某")  # what they point with is taken for the verb: 该|实现
WITHIN = frozenset(["内", "之内", "以内", "前", "之前", "以前", "后", "之后"])
PLACES = frozenset(["在", "于"])


def add_statement(
    passage: PassageReading,
    clause: Clause,
    meant: Meant,
    own: tuple[list[TypedName], str] | None,
    start: int,
) -> None:
    """Add a clause with a verb; one whose subject is neither in it nor known is left out."""
    names, attribute = own or ([], "")
    subject_name = names[0].text if len(names) == 1 and not attribute else ""
    subject = text_of(clause.subject) or "的".join(filter(None, (*_first(names), attribute)))
    stated = passage.text[clause.rest[0].start : clause.rest[-1].end] if clause.rest else ""
    if not subject or len(stated) > LONGEST_OBJECT or not _is_whole(clause):
        return
    if any(word.text == "请" for word in meant.words):
        return  # it speaks to the reader
    due = [p.phrase for p in clause.prepositions if p.word in PLACES and _tells_when(p.phrase)]
    place = next(
        (p for p in clause.prepositions if p.word in PLACES and p.phrase and p.phrase not in due),
        None,
    )
    others = [p for p in clause.prepositions if p is not place and p.phrase not in due]
    row = {
        "ordinal": len(passage.extracted.statements),
        "subject": subject,
        "subject_name": subject_name if usable(subject_name, LONGEST_NAME) else "",
        "predicate": text_of(meant.words) + clause.verb,
        "object": stated,
        "arguments": [p.word + words(p.phrase) for p in others],
        "time": clause.times[0].text if clause.times else words(due[0]) if due else "",
        "place": words(place.phrase) if place else "",
        "polarity": meant.standing.polarity,
        "modality": meant.standing.modality,
        "attribution": meant.standing.attribution,
    }
    end = clause.end if not clause.rest else clause.rest[-1].end
    tokens = [*meant.words, *clause.tokens]
    begin = min(start, *(token.start for token in tokens))
    if not clause.subject and passage.sentence is not None:  # it stands earlier in the sentence
        stands = passage.text.rfind(subject, passage.sentence.start, begin)
        begin = stands if stands >= 0 else begin
    span = (begin, end)
    passage.extracted.statements.append({**row, **evidence_columns(span, share("statement"))})


def _first(names: list[TypedName]) -> list[str]:
    return [name.text for name in names[:1]]


def _tells_when(phrase: list[Token]) -> bool:
    """Whether a phrase is 30日内 or 三个工作日之内."""
    return any(t.tag in ("time", "number", "m") for t in phrase[:1]) and phrase[-1].text in WITHIN


def _is_whole(clause: Clause) -> bool:
    """Whether a clause is one sentence: a noun phrase as its subject, a verb, no second one."""
    subject, rest = clause.subject, clause.rest
    if clause.second or not (rest or clause.prepositions) or not clause.verb:
        return False
    if len(subject) == 1 and subject[0].text in ALONE:
        return False
    if subject and (subject[0].tag[0] in "vdpcfmu" or subject[-1].tag in ("b", "f", "d", "a")):
        return False
    if rest and (rest[0].text in ("的", "等", *AND) or rest[-1].text in ("的", *AND)):
        return False
    return not any(
        token.text in MODALITY_OF_WORD
        or token.text in NEGATIONS
        or token.text in COPULAS
        or token.text in HANDLING
        for token in rest
    )
