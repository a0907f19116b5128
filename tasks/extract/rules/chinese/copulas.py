"""Copular clauses and measures: what something is, or how large it is."""

from tasks.extract.rules.chinese.lexicon import MEASURES, ROLES
from tasks.extract.rules.chinese.naming import TypedName, clean, is_name, is_native
from tasks.extract.rules.chinese.statement import Statement, split_coordination, words
from tasks.extract.rules.chinese.subjects import pick_name
from tasks.extract.rules.chinese.tokens import Token
from tasks.extract.rules.chinese.whole import is_whole
from tasks.extract.rules.modality import PLAIN

LONGEST_DEFINITION = 200  # characters
BEFORE_NUMBERS = frozenset(["为", "是", "达", "达到", "约", "有", "超过", "共", "近", "至"])


def state_measure(statement: Statement) -> bool:
    """Add the measure in a clause; return whether there is one: 高632米, 常住人口为2189万."""
    clause = statement.clause
    number = next((token for token in clause.tokens if token.tag == "number"), None)
    if number is None:
        return False
    before = [
        t for t in clause.tokens if t.end <= number.start and t.tag not in ("time", "d", "p", "x")
    ]
    while before and before[-1].text in BEFORE_NUMBERS:
        before = before[:-1]
    if not before:
        return False
    word = before[-1].text.removesuffix("约")  # the dictionary has 全长约 as one word
    attribute = MEASURES.get(word) or (word if word.endswith(tuple(MEASURES)) else "")
    after = [
        t for t in clause.tokens if t.start >= number.end and t.text not in ("左右", "以上", "多")
    ]
    if not attribute or len(after) > 1:
        return False
    heads = statement.heads
    owner = [t for t in before[:-1] if t.text not in ("的", "总", "全市", "全国", "其")]
    if owner and clause.subject and owner[0].start >= clause.subject[0].start:
        heads = [pick_name(statement.passage, owner)]
    size, when = words([number]), statement.when
    statement.add("measure", attribute, size, heads=heads, when=when)
    return True


def state_copula(statement: Statement) -> None:
    """Add the triples of a copular clause: X是Y, X是A的首都, X成为Y."""
    clause = statement.clause
    if clause.preposition("以", "把", "将") or clause.verb == "作为":
        return
    relation = "是" if clause.verb in ("为", "系", "乃") else clause.verb
    for part in split_coordination(clause.rest):
        tail, native = statement.tail(part), is_native(part)
        if part[0].text.startswith("第"):
            continue
        for head in statement.heads:
            if native and head.kind in ("person", "unknown"):
                place = words(part)[:-1]
                statement.add("native", "籍贯", place, heads=[head])
                continue
            statement.add("copula", relation, tail, heads=[head], when=statement.when)
            state_role(statement, head, part)
    if relation == "是" and not statement.attribute and _defines(statement):
        state_definition(statement)


def _defines(statement: Statement) -> bool:
    """Return whether the complement of 是 plainly gives the kind of thing that the subject is."""
    rest = statement.clause.rest
    if (
        statement.passage.standing != PLAIN
        or len(words(rest)) <= 3
        or rest[0].tag in ("b", "number")
    ):
        return False
    return is_whole(rest) and (rest[-1].tag[0] in "nl" or rest[-1].text == "之一")


def state_definition(statement: Statement) -> None:
    """Add a sentence that begins with its head's name as the description, if there is none yet."""
    passage, head = statement.passage, statement.heads[0]
    sentence = passage.sentence
    if sentence is None or sentence.end - sentence.start > LONGEST_DEFINITION:
        return
    if "的" in head.text:
        return
    text = passage.text[sentence.start : sentence.end]
    named = clean(text).startswith((head.text, *passage.forms))
    if named and all(row["entity"] != head.text for row in passage.extracted.descriptions):
        passage.description(head, text, (sentence.start, sentence.end), "definition")


def state_role(statement: Statement, head: TypedName, part: list[Token]) -> None:
    """Add the triple of a role: 北京是中国的首都 also gives (中国, 首都, 北京)."""
    places = [i for i, token in enumerate(part) if token.text == "的"]
    if len(places) != 1:
        return
    owner, role = part[: places[0]], words(part[places[0] + 1 :]).removesuffix("之一")
    if role in ROLES and owner and is_name(owner):
        statement.add("role", role, head, heads=[statement.passage.name_phrase(owner)])
