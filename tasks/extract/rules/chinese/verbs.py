"""Clauses with an action verb: objects, passives, times, places, births and deaths."""

from tasks.extract.rules.chinese.clauses import parse_clause
from tasks.extract.rules.chinese.lexicon import (
    CREATION,
    EMPTY_VERBS,
    FOLLOWING,
    GOING,
    LASTING,
    MEASURES,
    PIVOTS,
    ROLES,
    USING,
)
from tasks.extract.rules.chinese.naming import TypedName, clean, is_name, is_native, kind_by_ending
from tasks.extract.rules.chinese.subjects import pick_name
from tasks.extract.rules.chinese.tokens import Token
from tasks.extract.rules.chinese.whole import (
    ResolvedClause,
    is_coordination,
    is_known,
    is_term,
    is_whole,
    split_coordination,
    split_serial,
    without_indefinite,
    words,
)
from tasks.extract.rules.modality import PLAIN

LEADING = frozenset("从自为向对用以随应继")
LONGEST_ACTION = 8  # characters of an object that is part of a relation
BIRTH = dict.fromkeys(("出生", "出生于", "生于", "诞生于"), "出生")
BIRTH |= dict.fromkeys(("逝世", "逝世于", "去世", "病逝"), "逝世")
# The verb by which the time of a shorter verb is named: 写于 gives 写作时间.
STEMS = {"写": "写作", "建": "建造", "始": "开始"}


def state_passive(statement: ResolvedClause) -> None:
    """Add the triples of a passive clause: 由清政府创建于1911年, 被称为…, 被授予…."""
    clause, verb = statement.clause, statement.clause.verb
    preposition = clause.preposition("被", "由", "受", "获")
    if preposition is None:
        return
    stem = verb.removesuffix("于").removesuffix("为") or verb
    named = verb.endswith(("为", "成")) or (clause.rest and preposition.word == "被")
    if named and len(verb) > 1:
        for part in split_coordination(clause.rest):
            tail = statement.tail(part)
            statement.add("passive_result", f"被{verb}", tail, when=statement.when)
    # 被授予 has no agent: the phrase is empty and the verb follows at once.
    if preposition.phrase and stem == verb.removesuffix("于"):
        for part in split_coordination(without_indefinite(preposition.phrase)):
            if is_coordination(part) or not is_term(part, statement.passage.title):
                continue
            agent = pick_name(statement.passage, part)
            if stem == "组成":
                statement.add("passive", "由…组成", agent.text)
                continue
            for head in statement.heads:
                statement.add("passive", stem, head, heads=[agent])
    state_time_and_place(statement, stem, [])


def state_verb(statement: ResolvedClause) -> None:
    """Add the triples of a verb with its objects, prepositional phrases and serial verbs."""
    passage, clause, verb = statement.passage, statement.clause, statement.clause.verb
    if verb in BIRTH:
        state_birth(statement, BIRTH[verb])
        return
    objects, serial = split_serial(clause.rest, pivot=verb in PIVOTS)
    if serial and verb not in GOING | PIVOTS | USING and serial[0].text not in FOLLOWING:
        # 从事杂交水稻研究, 发挥国家战略叠加优势: the second verb is part of the object.
        if len(serial) > 1 or serial[0].tag != "vn":
            return
        objects, serial = clause.rest, []
    objects = without_indefinite(objects)
    heads = list(statement.heads)
    companions = clause.preposition("与", "和", "同", "跟")
    handled = clause.preposition("把", "将")
    if companions and not objects:
        for part in split_coordination(companions.phrase):
            for head in heads:
                statement.add("with", verb, pick_name(passage, part), heads=[head])
    if handled and objects:
        heads = [passage.name_phrase(handled.phrase)]
    for part in split_coordination(objects):
        state_object(statement, heads, part)
    if objects:
        passage.object = passage.name_phrase(split_coordination(objects)[-1])
    if not serial:
        state_time_and_place(statement, verb, objects)
    if serial:
        actors = [pick_name(passage, part) for part in split_coordination(objects)]
        acts = verb in PIVOTS or serial[0].text == "为"
        state_serial(statement, actors if acts else heads, serial, objects)


def state_object(statement: ResolvedClause, heads: list[TypedName], part: list[Token]) -> None:
    """Add one object of a verb or, if it is a date (创建于1911年), the time of the verb."""
    verb = statement.clause.verb
    if part[0].tag == "time" and (len(part) == 1 or not part[1].nominal):
        stem = verb.removesuffix("于").removesuffix("在")
        relation = f"{STEMS.get(stem, stem)}时间"
        statement.add("time", relation, part[0].text, heads=heads, value=part[0].value)
        return
    tail = statement.tail(part, pick_name(statement.passage, part))
    lasting = statement.when if verb in LASTING else None
    statement.add("object", verb, tail, heads=heads, when=lasting)


def state_time_and_place(statement: ResolvedClause, verb: str, objects: list[Token]) -> None:
    """Add the time, the place and other prepositional phrases of an action: 于1999年, 在伦敦."""
    passage, clause = statement.passage, statement.clause
    if len(verb) == 1:
        return
    what = words(objects) if is_whole(objects) else ""
    if objects and not what:
        return
    verb = verb if what else verb.removesuffix("于")
    created = verb.removesuffix("于") in CREATION
    if len(what) > LONGEST_ACTION and not created:
        return
    action = verb.removesuffix("于") if created and not what else verb + what
    for time in clause.times[:1]:
        made = split_coordination(objects)
        if created and made and not verb.endswith("于"):
            made = [part for part in made if is_name(part)]
            for part in made:
                heads = [pick_name(passage, part)]
                relation, value = f"{verb}时间", time.value
                statement.add("time", relation, time.text, heads=heads, value=value)
        elif created or not clause.rest or all(is_known(head) for head in statement.heads):
            statement.add("time", f"{action}时间", time.text, value=time.value)
    place = clause.preposition("在", "于")
    if place and place.phrase[-1].tag != "time":
        phrase = place.phrase
        while len(phrase) > 1 and phrase[-1].tag == "f":
            phrase = phrase[:-1]
        for part in split_coordination(phrase):
            tail = statement.tail(part)
            if isinstance(tail, TypedName) or kind_by_ending(tail) != "unknown":
                statement.add("place", f"在…{action}", tail)
    for preposition in clause.prepositions:
        if preposition.phrase and preposition.word in LEADING:
            tail = statement.tail(preposition.phrase)
            if isinstance(tail, str) and preposition.phrase[-1].tag not in ("time", "number"):
                continue
            statement.add("preposition", f"{preposition.word}…{action}", tail)


def state_birth(statement: ResolvedClause, event: str) -> None:
    """Add the date and the place of a birth or death: 出生于, 生于, 逝世于."""
    clause = statement.clause
    dates = [*clause.times, *(t for t in clause.rest if t.tag == "time")]
    dates = [date for date in dates if date.value and date.value.is_point][:1]
    place = [t for t in clause.rest if t.tag != "time"]
    where = clause.preposition("在", "于")
    if not place and where:
        place = where.phrase
    for head in statement.heads:
        for date in dates:
            statement.add("birth", f"{event}日期", date.text, heads=[head], value=date.value)
        for part in split_coordination(place):
            statement.add("birth", f"{event}地", statement.tail(part), heads=[head])


def state_serial(
    statement: ResolvedClause, heads: list[TypedName], serial: list[Token], objects: list[Token]
) -> None:
    """Add the triples of a serial verb after an object: 赴日本 | 留学, 聘请梁启超 | 为导师."""
    clause = parse_clause(serial)
    if not clause.verb or clause.verb in EMPTY_VERBS or clause.negated:
        return
    if not clause.rest and statement.clause.verb in GOING and objects:
        tail = statement.tail(objects)
        statement.add("serial", f"在…{clause.verb}", tail, heads=heads)
    for part in split_coordination(without_indefinite(clause.rest)):
        tail = statement.tail(part, pick_name(statement.passage, part))
        statement.add("serial", clause.verb, tail, heads=heads)


LONGEST_DEFINITION = 200  # characters
BEFORE_NUMBERS = frozenset(["为", "是", "达", "达到", "约", "有", "超过", "共", "近", "至"])


def state_measure(statement: ResolvedClause) -> bool:
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


def state_copula(statement: ResolvedClause) -> None:
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


def _defines(statement: ResolvedClause) -> bool:
    """Return whether the complement of 是 plainly gives the kind of thing that the subject is."""
    rest = statement.clause.rest
    if (
        statement.passage.standing != PLAIN
        or len(words(rest)) <= 3
        or rest[0].tag in ("b", "number")
    ):
        return False
    return is_whole(rest) and (rest[-1].tag[0] in "nl" or rest[-1].text == "之一")


def state_definition(statement: ResolvedClause) -> None:
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


def state_role(statement: ResolvedClause, head: TypedName, part: list[Token]) -> None:
    """Add the triple of a role: 北京是中国的首都 also gives (中国, 首都, 北京)."""
    places = [i for i, token in enumerate(part) if token.text == "的"]
    if len(places) != 1:
        return
    owner, role = part[: places[0]], words(part[places[0] + 1 :]).removesuffix("之一")
    if role in ROLES and owner and is_name(owner):
        statement.add("role", role, head, heads=[statement.passage.name_phrase(owner)])
