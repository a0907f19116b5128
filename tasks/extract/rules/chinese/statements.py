"""Statements: Chinese clauses in the words of their sentence, with polarity and modality."""

from dataclasses import dataclass

from tasks.extract.rules.chinese.acting import SURE, has_verb, is_owned, predicate_at
from tasks.extract.rules.chinese.clauses import Clause, Preposition
from tasks.extract.rules.chinese.lexicon import (
    AND,
    CLAUSAL,
    COPULAS,
    DEMONSTRATIVES,
    GOING,
    MODALITY_OF_WORD,
    NEGATIONS,
    PLACE_ENDS,
    SHORT_VERBS,
    WHILE,
)
from tasks.extract.rules.chinese.naming import TypedName
from tasks.extract.rules.chinese.passage import LONGEST_NAME, PassageReading, usable
from tasks.extract.rules.chinese.predicates import WRITTEN
from tasks.extract.rules.chinese.standing import Meant, is_when, own_time
from tasks.extract.rules.chinese.tokens import NAME_TAGS, SegmentedSentence, Token, text_of
from tasks.extract.rules.chinese.whole import COVERBS, has_word, words
from tasks.text.chinese_words import tag_of

AFFIRMING = frozenset(["不断", "不仅", "不但", "不时", "不久", "不禁", "未来", "不同", "不是"])
LONGEST_LABEL = 12  # characters
LONGEST_SUBJECT = 40
LONGEST_OWNER = 16
LONGEST_UNIT = 3  # 每小时
LONGEST_QUALITY = 4  # tokens of 必须的
ALONE = DEMONSTRATIVES | {"各", "某"}  # if alone, their noun was taken for the verb: 该|实现
WHEN = frozenset(["在", "于", "自", "从", "到"])
PLACES = frozenset(["在", "于"])
REACHING = frozenset("到在于入至")  # final characters of verbs before a place: 提交到|仓库中
NEXT = frozenset(["并", "并且", "而", "从而", "且"])  # before a coordinated verb: 靠近A并得名
TEMPORAL = frozenset(["前", "后", "时", "之前", "之后", "以前", "以后", "时候", "期间", "过程中"])


BELOW = frozenset(["下列", "以下", "如下", "下图", "下表"])
BARE = frozenset(["即", "为", "作为"])  # states nothing without a subject


@dataclass(frozen=True, slots=True)
class Surroundings:
    """What earlier clauses of the sentence give: their subject, a topic, a condition, a time."""

    carried: str = ""
    topic: str = ""
    condition: str = ""
    moment: str = ""
    nobody: bool = False  # no earlier clause names a possible subject


def add_statement(
    passage: PassageReading,
    clause: Clause,
    meant: Meant,
    own: tuple[list[TypedName], str] | None,
    start: int,
    around: Surroundings,
) -> bool:
    """Add the statement of a clause with a verb, and return whether it was added.

    A clause is left out if it was not parsed as a whole, or if its subject stands elsewhere and is
    unknown. An instruction or a list item (支持备份) has no subject, and neither has its statement.
    """
    carried = around.carried
    names, attribute = own or ([], "")
    named = len(names) == 1 and not attribute and not (carried and not clause.subject)
    subject_name = names[0].text if named else ""
    subject = text_of(clause.subject) or carried
    equals = clause.verb in COPULAS or clause.verb.endswith("为")
    owned = equals and subject == attribute and len(names) == 1 and _can_own(names[0].text)
    opening = passage.text[passage.sentence.start : start] if passage.sentence else ""
    if not subject or (owned and names[0].text in opening):
        subject = "的".join(filter(None, (*(name.text for name in names[:1]), attribute)))
    rest = _own_object(clause.rest)
    stated = passage.text[rest[0].start : rest[-1].end] if rest else ""
    agent = None if clause.subject else clause.preposition("由")
    if agent and not (subject and rest):  # 公园的树木，由林业部门负责养护
        stated = stated or around.topic
        subject, subject_name = text_of(agent.phrase), ""
    else:
        agent = None
    done = stated or around.condition or not agent
    stands_alone = (
        bool(rest or clause.prepositions) and clause.verb not in BARE and not has_word(rest, BELOW)
    )
    nobody = around.nobody and not clause.subject and stands_alone and _is_sure(clause)
    if not (subject or nobody) or not done or not _is_whole(clause, meant):
        return False
    if subject and any(word.text == "请" for word in meant.words):
        return False  # it addresses the reader
    ends = clause.subject[-1].end if clause.subject else 0
    if ends and any(clause.subject[0].start < word.start < ends for word in meant.words):
        return False  # the subject is not in one piece
    grows = carried and not clause.subject and not around.condition
    if grows and len(rest) == 1 and rest[0].tag == "number":
        return False  # 利润增长5%，增长1.4%: the subject of the second clause is uncertain
    due = [p.phrase for p in clause.prepositions if _tells_when(p)]
    place = next(
        (p for p in clause.prepositions if p.word in PLACES and p.phrase and p.phrase not in due),
        None,
    )
    spread = bool(clause.second) or clause.lost
    others = [p for p in clause.prepositions if p not in (place, agent) and p.phrase not in due]
    row = {
        "subject": subject,
        "subject_name": subject_name if usable(subject_name, LONGEST_NAME) else "",
        "predicate": _predicate(passage, clause, meant, spread=spread),
        "object": stated,
        "arguments": [
            *filter(None, [around.condition]),
            *(p.word + words(p.phrase) for p in others if not spread),
        ],
        "time": own_time(clause, around.moment) or (words(due[0]) if due else around.moment),
        "place": words(place.phrase) if place else "",
    }
    end = rest[-1].end if rest else clause.end
    tokens = [*meant.words, *clause.tokens, *clause.times]
    begin = min(start, *(token.start for token in tokens))
    if not clause.subject and passage.sentence is not None:  # the subject stands earlier
        stands = passage.text.rfind(subject, passage.sentence.start, begin)
        begin = stands if stands >= 0 else begin
    passage.state((begin, end), meant.standing, **row)
    return True


def _predicate(passage: PassageReading, clause: Clause, meant: Meant, *, spread: bool) -> str:
    """Return the verb with its modal words, or all after the subject if some words are lost."""
    if not spread:
        return text_of(meant.words) + clause.past + (text_of(clause.verbs) or clause.verb)
    end = clause.rest[0].start if clause.rest else clause.end
    return passage.text[clause.subject[-1].end : end].strip()


def add_measure(
    passage: PassageReading, clause: Clause, meant: Meant, around: Surroundings
) -> bool:
    """Add the statement of a measure without a verb, and return whether it was added.

    Example: 出口|规模|40亿元.
    """
    *owner, measure = clause.subject
    number = clause.second
    if not owner or len(number) != 1 or number[0].tag != "number" or measure.tag[0] != "n":
        return False
    if not is_nominal(owner) or clause.tokens[-1] is not number[0]:
        return False
    passage.state(
        (clause.start, clause.end),
        meant.standing,
        subject=text_of(owner[:-1] if owner[-1].text == "的" else owner),
        predicate=measure.text,
        object=passage.text[clause.subject[-1].end : number[0].end],
        arguments=[around.condition] if around.condition else [],
        time=own_time(clause, around.moment) or around.moment,
    )
    return True


def read_label(passage: PassageReading, sentence: SegmentedSentence, stated: int) -> None:
    """State the value after a colon, unless its clauses name a subject: 报名截止：7月10日.

    The subject is the label before the colon; or the value completes the object of a clause that
    ends there (作品发至邮箱：a@b.c). `stated` is the number of statements before this sentence.
    """
    rows = passage.extracted.statements
    cut = next((i for i, token in enumerate(sentence.tokens) if token.text in "：:"), 0)
    label, value = sentence.tokens[:cut], sentence.tokens[cut + 1 :]
    if not (label and value) or value[0].text in "（(" or has_word(label, BELOW):
        return
    if any(row["subject"] for row in rows[stated:] if row["span_end"] > value[0].start):
        return
    text = passage.text[value[0].start : sentence.end].rstrip("；;。")
    measured = value[0].tag in ("time", "number") and label[-1].tag == "n"  # 报名截止时间：7月10日
    last = rows[-1] if len(rows) > stated else None
    ends = last is not None and last["span_end"] == label[-1].end and not measured
    if last and ends and (last["object"] or last["predicate"] == "是"):
        last["object"] += ("：" if last["object"] else "") + text
        last["span_end"] = sentence.end
        return
    named = measured or label[0].tag[0] == "n" or is_nominal(label)
    name = text_of(label)
    if named and 1 < len(name) <= LONGEST_LABEL:
        del rows[stated:]
        owned = not passage.document and _can_own(passage.title.text)
        subject = f"{passage.title.text}的{name}" if owned else name
        passage.state((sentence.start, sentence.end), subject=subject, predicate="是", object=text)


def _is_sure(clause: Clause) -> bool:
    """Return whether the clause's verb is also its most likely predicate."""
    predicate = predicate_at(clause.tokens)
    return predicate is not None and clause.verb.startswith(clause.tokens[predicate].text)


def _can_own(name: str) -> bool:
    """Return whether a name is short and simple enough to be a possessor: 甲公司|的总部."""
    return 0 < len(name) <= LONGEST_OWNER and "的" not in name


def _tells_when(preposition: Preposition) -> bool:
    """Return whether a phrase gives a time: 在30日内, 在5.0版本中, or 回国后 as a clause."""
    phrase, word = preposition.phrase, preposition.word
    return bool(phrase) and (not word or (word in WHEN and is_when(phrase)))


def _own_object(rest: list[Token]) -> list[Token]:
    """Return the object of the verb, without a coordinated verb after it: 靠近|A|并得名."""
    for position in range(1, len(rest)):
        after = rest[position + 1 :]
        if rest[position].text in NEXT and has_verb(after, 0, len(after)):
            return rest[:position]
    return rest


def _is_whole(clause: Clause, meant: Meant) -> bool:
    """Return whether a clause is complete: a noun phrase as subject, a verb, no other clause."""
    subject, rest = clause.subject, clause.rest
    if len(clause.verb) == 1 and clause.verb not in SHORT_VERBS and not _is_sure(clause):
        return False
    if clause.tokens[-1].text in TEMPORAL:
        return False
    if (clause.second or clause.lost) and not (_is_sure(clause) and _begins(clause)):
        return False
    if _may_deny(clause):
        return False
    if len(subject) == 1 and subject[0].tag == "vn" and not _is_sure(clause):
        after = next(token for token in clause.tokens if token.start >= subject[0].end)
        if after.tag[0] not in "pd":  # 活动|由学生主持
            return False
    happens = subject and (clause.times or clause.verbs or _happens(clause, meant))
    obliges = any(MODALITY_OF_WORD.get(word.text) == "required" for word in meant.words)
    happens = happens or obliges  # 不得收费
    if not (rest or clause.prepositions or happens):
        return False
    points = len(subject) == 1 and (subject[0].text in ALONE or subject[0].tag == "r")
    if points and subject[0].text[0] in ALONE and clause.verb != "是":
        return False
    if clause.verb in MODALITY_OF_WORD:
        return False
    if clause.verb in GOING and rest and rest[0].tag == "v":
        return False
    if subject and not is_nominal(subject, places=clause.verb in ("有", "是")):
        return False
    short = len(rest) <= LONGEST_QUALITY
    described = clause.verb == "是" and (short or rest[0].tag == "p")  # 是必须的, 是由甲公司开发的
    ends = AND if described else {"的", *AND}
    ends |= set() if clause.verb[-1] in REACHING else PLACE_ENDS - {"内"}
    if rest and (rest[0].text in ("的", "等", *AND) or rest[-1].text in ends):
        return False
    marked = max((i for i, token in enumerate(rest) if token.text == "的"), default=0)
    return (
        clause.verb in CLAUSAL
        or not has_word(rest[marked:], MODALITY_OF_WORD.keys() | NEGATIONS | COVERBS)
        and not any(token.text in COPULAS - {"为", "作为"} for token in rest)
    )


def _begins(clause: Clause) -> bool:
    """Return whether the clause begins with its subject, and the subject is not cut off."""
    if not clause.subject or clause.subject[0].tag in ("v", "vn", "m"):
        return False
    end = clause.subject[-1].end
    before = [t for t in clause.tokens if t.end <= clause.subject[0].start]
    after = next((t for t in clause.tokens if t.start >= end), clause.tokens[-1])
    goes_on = (
        after.tag[0] in "uxc" or after.text in {"每", *AND, *WHILE} or clause.verb == after.text
    )
    return all(t.tag[0] in "dct" for t in before) and not goes_on


def _may_deny(clause: Clause) -> bool:
    """Return whether a word before the verb looks like an unrecognised negation: 不适|用于."""
    end = clause.rest[0].start if clause.rest else clause.end
    start = clause.subject[-1].end if clause.subject else clause.start
    led = {token.start for p in clause.prepositions for token in p.phrase}
    return any(
        token.text[0] in "不未没勿"
        and not clause.verb.startswith(token.text)
        and token.text not in AFFIRMING
        for token in clause.tokens
        if start <= token.start < end and token.start not in led
    )


def _happens(clause: Clause, meant: Meant) -> bool:
    """Return whether a verb or adjective without an object is a predicate: 需求|恢复, 延迟|高."""
    before, last = clause.tokens[-2:]
    led = meant.words or before.tag in ("d", "ad", "vd") or len(clause.verb) > len(last.text)
    if clause.verb in CLAUSAL or not clause.verb.endswith(last.text):
        return False
    owned = max((i for i, t in enumerate(clause.tokens) if t.text == "的"), default=-1)
    if not any(t.nominal and t.tag != "vn" for t in clause.tokens[owned + 1 : -1]):
        return False  # 指定空间的写|请求
    return (_is_sure(clause) and last.tag != "vn") or (
        bool(led) and last.tag == "v" and len(last.text) > 1
    )


def is_nominal(subject: list[Token], *, places: bool = False) -> bool:
    """Return whether a subject is a noun phrase or, with `places`, a place (飞船内部有酒吧)."""
    first, last = subject[0], subject[-1]
    counts = len(subject) == 1 and first.tag in ("number", "m", "t")
    if last.text in TEMPORAL or last.text in WHILE:
        return False  # 白天时
    if counts or (first.text[0] == "每" and len(text_of(subject)) <= LONGEST_UNIT):
        return False
    opening = {tag_of(first.text[:length]) for length in (1, 2)}
    acts = first.tag in ("l", "i") and "v" in opening  # 建立健全, 说老实话
    if acts or any(token.text in COVERBS for token in subject):
        return False
    noun = first.tag == "vn" and first.leads < SURE
    if len(subject) == 1 and not noun and first.tag in ("v", "vn", "a", "ad", "an", "i", "d"):
        return False
    described = max((i for i, token in enumerate(subject) if token.text == "的"), default=0)
    verbs = [i for i in range(described, len(subject)) if subject[i].tag == "v"]
    if first.text in CLAUSAL or not all(is_owned(subject, i) for i in verbs):
        return False
    if any(t.text == "的" for t in subject[1:-1]):
        return first.tag[0] not in "cfup" and last.tag not in ("b", "f", "d", "a", "v")
    counted = first.tag[0] == "m" and not (
        len(subject) > 1 and last.nominal and last.tag[0] in "nv"
    )
    opens = (first.tag[0] in "vdpcfu" and first.tag != "vn") or counted
    return not opens and (
        last.tag not in ("b", "f", "d", "a", "v") or (places and last.tag in ("f", "b"))
    )


def is_topic(subject: list[Token]) -> bool:
    """Return whether the subject of a partly parsed clause can be that of the next clauses."""
    first = subject[0]
    named = first.tag in NAME_TAGS | WRITTEN | {"eng"}
    acts = len(first.text) > 2 and tag_of(first.text[:2])[:1] == "v"  # 扩大内需
    noun = tag_of(first.text)[:1] in {*"nbrs"} and first.tag != "vn" and not acts
    whole = is_nominal(subject) and len(text_of(subject)) <= LONGEST_SUBJECT
    return (named or noun) and whole
