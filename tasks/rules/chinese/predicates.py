"""What clauses of each make say: copulas, measures, passives, and verbs with their objects."""

from dataclasses import dataclass

from tasks.rules.chinese.clauses import Clause, split_coordination, split_serial
from tasks.rules.chinese.lexicon import (
    CREATION,
    EMPTY_VERBS,
    GOING,
    MEASURES,
    PIVOTS,
    ROLES,
)
from tasks.rules.chinese.naming import Name, is_name, is_native
from tasks.rules.chinese.passage import Passage
from tasks.rules.chinese.tokens import Token
from tasks.values import Value

INDEFINITE = (
    "一种",
    "一个",
    "一位",
    "一所",
    "一座",
    "一名",
    "一部",
    "一条",
    "一家",
    "一本",
    "一篇",
    "一项",
    "一支",
    "一块",
    "一",
)
BIRTH = {
    "出生": "出生",
    "出生于": "出生",
    "生于": "出生",
    "诞生于": "出生",
    "逝世于": "逝世",
    "逝世": "逝世",
    "去世": "逝世",
}
TOGETHER = frozenset(["与", "和", "同", "跟"])
GIVING = frozenset(["授予", "颁发", "赠予", "颁给", "授"])
LONGEST_DEFINITION = 200  # characters
STEMS = {"写": "写作", "建": "建造", "始": "开始"}
HANDLING = frozenset(["把", "将"])
# Verbs after which a date says since when something holds.
LASTING = frozenset(
    [
        "任",
        "担任",
        "出任",
        "就任",
        "任职于",
        "任教",
        "任职",
        "定居",
        "定居于",
        "属于",
        "隶属",
        "迁",
        "迁到",
        "迁入",
        "迁往",
        "成为",
        "加入",
        "改名",
        "改为",
    ]
)


@dataclass(slots=True)
class Statement:
    """A clause with its subject known: whose, and which attribute of theirs if it is about one."""

    clause: Clause
    heads: list[Name]
    attribute: str
    span: tuple[int, int]
    carried: bool

    @property
    def when(self) -> Value | None:
        """The date the clause gives."""
        return self.clause.times[0].value if self.clause.times else None

    def tail(self, passage: Passage, part: list[Token], picked: Name | None = None) -> str | Name:
        """The tail a phrase makes: a name where it is one, else its words."""
        part = without_indefinite(part)
        if not part:
            return ""
        text = words(part)
        if text in passage.forms or text == passage.title.text:
            return passage.title
        if (generic := passage.pronoun(text)) is not None:
            return generic
        if picked is not None and (picked.kind in ("person", "work") or picked == passage.title):
            return picked
        if part[-1].tag in ("time", "number") or part[0].value is not None and len(part) == 1:
            return text
        return passage.name_phrase(part) if is_name(part) else text


def without_indefinite(part: list[Token]) -> list[Token]:
    """A phrase without its 一种, 一个."""
    while len(part) > 1 and part[0].text in INDEFINITE:
        part = part[2:] if part[0].text == "一" and part[1].tag == "q" else part[1:]
    while part and (part[-1].tag in ("c", "u", "y", "d", "x", "p") and part[-1].text != "之一"):
        part = part[:-1]
    while part and part[0].tag in ("d", "x", "c", "u"):
        part = part[1:]
    return part


def words(tokens: list[Token]) -> str:
    """The words of a phrase, a work without its brackets."""
    return "".join(t.text.strip("《》") if t.tag == "work" else t.text for t in tokens)


def state_measure(passage: Passage, statement: Statement) -> bool:
    """面积约16410平方公里, 高632米, 常住人口为2189万; whether the clause is of this form."""
    clause = statement.clause
    numbers = [t for t in clause.tokens if t.tag == "number"]
    if not numbers:
        return False
    number = numbers[0]
    before = [
        t for t in clause.tokens if t.end <= number.start and t.tag not in ("time", "d", "p", "x")
    ]
    while before and before[-1].text in (
        "为",
        "是",
        "达",
        "达到",
        "约",
        "有",
        "超过",
        "共",
        "近",
        "至",
    ):
        before = before[:-1]
    if not before:
        return False
    word = before[-1].text
    attribute = MEASURES.get(word) or (word if word.endswith(tuple(MEASURES)) else "")
    after = [
        t for t in clause.tokens if t.start >= number.end and t.text not in ("左右", "以上", "多")
    ]
    if not attribute or len(word) > 6 and word not in MEASURES or len(after) > 1:
        return False
    heads = statement.heads
    owner = [t for t in before[:-1] if t.text not in ("的", "总", "全市", "全国", "其")]
    if before[-2:-1] and before[-2].text == "总":
        attribute = "总" + attribute
    if owner and clause.subject and owner[0].start >= clause.subject[0].start:
        heads = [_picked(passage, owner)]
    elif not clause.subject or clause.subject[0] in before[-1:]:
        heads = statement.heads
    for head in heads:
        passage.triple(
            "measure",
            head,
            attribute,
            words([number]),
            statement.span,
            carried=not owner,
            when=statement.when,
        )
    return True


def state_copula(passage: Passage, statement: Statement) -> None:
    """X是Y, X是A的首都, X成为Y."""
    clause = statement.clause
    relation = "是" if clause.verb in ("为", "系", "乃") else clause.verb
    for part in split_coordination(clause.rest):
        tail = statement.tail(passage, part)
        text = words(part)
        for head in statement.heads:
            if is_native(part) and head.kind in ("person", "unknown"):
                passage.triple("native", head, "籍贯", text[:-1], statement.span)
                continue
            passage.triple(
                "copula",
                head,
                relation,
                tail,
                statement.span,
                carried=statement.carried,
                when=statement.when,
            )
            state_role(passage, statement, head, part)
    if relation == "是" and not statement.attribute and len(words(clause.rest)) > 3:
        state_definition(passage, statement)


def state_definition(passage: Passage, statement: Statement) -> None:
    """The first sentence that says what something is describes it."""
    sentence, head = passage.sentence, statement.heads[0]
    if sentence is None or sentence.end - sentence.start > LONGEST_DEFINITION:
        return
    text = passage.text[sentence.start : sentence.end]
    named = statement.clause.subject or (head == passage.title and text.startswith(head.text))
    if named and all(row["entity"] != head.text for row in passage.found.descriptions):
        passage.description(head, text, (sentence.start, sentence.end), "definition")


def state_role(passage: Passage, statement: Statement, head: Name, part: list[Token]) -> None:
    """北京是中国的首都 also says (中国, 首都, 北京)."""
    places = [i for i, token in enumerate(part) if token.text == "的"]
    if not places:
        return
    role = words(part[places[-1] + 1 :]).removesuffix("之一")
    before = part[: places[0]]
    if len(places) == 1 and role in ROLES and before and is_name(before):
        owner = passage.name_phrase(before)
        passage.triple("role", owner, role, head, statement.span, carried=statement.carried)


def state_passive(passage: Passage, statement: Statement) -> None:
    """由清政府创建于1911年, 被称为…, 被授予…."""
    clause = statement.clause
    preposition = clause.preposition("被", "由", "受", "获")
    verb, span = clause.verb, statement.span
    agents = preposition.phrase if preposition else []
    # 被授予 leaves no agent: the phrase is empty and the verb follows at once.
    if (
        not verb
        or preposition is None
        or any(token.text.startswith("而") for token in clause.tokens)
    ):
        return
    stem = verb.removesuffix("于").removesuffix("为") or verb
    if verb.endswith(("为", "成")) or (clause.rest and preposition.word == "被"):
        for part in split_coordination(clause.rest):
            for head in statement.heads:
                passage.triple(
                    "passive_result",
                    head,
                    f"被{verb}",
                    statement.tail(passage, part),
                    span,
                    carried=statement.carried,
                    when=statement.when,
                )
    moved = stem.startswith("迁") and preposition.word == "由"
    if agents and stem not in EMPTY_VERBS and not moved:
        for part in split_coordination(without_indefinite(agents)):
            agent = passage.name_phrase(part)
            relation = "组成部分" if stem == "组成" else stem
            for head in statement.heads:
                if stem == "组成":
                    passage.triple(
                        "passive", head, relation, agent.text, span, carried=statement.carried
                    )
                else:
                    passage.triple(
                        "passive", agent, relation, head, span, carried=statement.carried
                    )
    if clause.rest and clause.rest[0].tag == "time" and preposition.word == "由":
        state_object(passage, statement, statement.heads, verb, clause.rest[:1])
    state_time_and_place(passage, statement, stem)


def state_verb(passage: Passage, statement: Statement) -> None:
    """A verb with its object, the prepositions before it, and the verbs that follow."""
    clause = statement.clause
    verb = clause.verb
    if verb in GIVING and len(clause.rest) > 1 and is_name(clause.rest[:1]):
        receiver, given = clause.rest[0], statement.tail(passage, clause.rest[1:])
        name = passage.name_phrase([receiver])
        passage.triple("object", name, f"被{verb}", given, statement.span, when=None)
        return
    if verb in BIRTH:
        state_birth(passage, statement, BIRTH[verb])
        return
    objects, serial = split_serial(clause.rest, pivot=verb in PIVOTS)
    new = bool(objects) and objects[0].text.startswith("一")
    objects = without_indefinite(objects)
    heads = list(statement.heads)
    together = clause.preposition(*TOGETHER)
    handled = clause.preposition(*HANDLING)
    if together and not objects:
        for part in split_coordination(together.phrase):
            for head in heads:
                name = _picked(passage, part)
                passage.triple("with", head, verb, name, statement.span, carried=statement.carried)
    elif together and clause.tokens and any(t.text in ("一起", "共同") for t in clause.tokens):
        heads += [_picked(passage, part) for part in split_coordination(together.phrase)]
    if handled and objects:
        heads = [passage.name_phrase(handled.phrase)]
    elif handled:
        objects = handled.phrase
    going = verb in ("到", "去", "来") and bool(serial)
    for part in [] if going else split_coordination(objects):
        state_object(passage, statement, heads, verb, part)
    if objects:
        passage.object = passage.name_phrase(split_coordination(objects)[-1])
        passage.introduced = passage.object if new else None
    state_time_and_place(passage, statement, verb, objects)
    if serial:
        actors = [_picked(passage, part) for part in split_coordination(objects)]
        state_serial(passage, statement, actors if verb in PIVOTS else heads, serial, objects)


def _picked(passage: Passage, part: list[Token]) -> Name:
    from tasks.rules.chinese.facts import pick_name

    return pick_name(passage, part)


def state_object(
    passage: Passage, statement: Statement, heads: list[Name], verb: str, part: list[Token]
) -> None:
    """One object of a verb; a date or place after 于 gives the verb's time or place."""
    if not part:
        return
    span, when = statement.span, statement.when
    if part[0].tag == "time" and (len(part) == 1 or not part[1].nominal):
        stem = verb.removesuffix("于").removesuffix("在")
        for head in heads:
            passage.triple(
                "time",
                head,
                f"{STEMS.get(stem, stem)}时间",
                part[0].text,
                span,
                carried=statement.carried,
                value=part[0].value,
            )
        return
    tail = statement.tail(passage, part, _picked(passage, part))
    lasting = when if verb in LASTING else None
    for head in heads:
        passage.triple("object", head, verb, tail, span, carried=statement.carried, when=lasting)


def state_time_and_place(
    passage: Passage, statement: Statement, verb: str, objects: list[Token] | None = None
) -> None:
    """When and where: 于1999年, 在伦敦."""
    clause, span = statement.clause, statement.span
    what = words([t for t in objects or [] if t.text not in ("此", "这里", "那里")])
    verb = verb if what else verb.removesuffix("于")
    action = verb + what if len(what) <= 12 else verb
    created = verb in CREATION
    for time in clause.times[:1]:
        made = split_coordination(objects or [])
        if created and made and is_name(made[-1]):
            for part in made:
                made_name = _picked(passage, part)
                passage.triple("time", made_name, f"{verb}时间", time.text, span, value=time.value)
        elif created or what or verb not in EMPTY_VERBS:
            for head in statement.heads:
                relation = f"{action}时间"
                passage.triple(
                    "time",
                    head,
                    relation,
                    time.text,
                    span,
                    carried=statement.carried,
                    value=time.value,
                )
    place = clause.preposition("在", "于")
    if place and place.phrase[-1].tag != "time":
        phrase = place.phrase
        while len(phrase) > 1 and phrase[-1].tag == "f":
            phrase = phrase[:-1]
        if phrase[-1].text.endswith(("期间", "时期", "时", "时间")):
            return
        for part in split_coordination(phrase):
            for head in statement.heads:
                tail = statement.tail(passage, part)
                passage.triple("place", head, f"在…{action}", tail, span, carried=statement.carried)
    for preposition in clause.prepositions:
        if not preposition.phrase or all(c in "东西南北向" for c in words(preposition.phrase)):
            continue
        if preposition.word in ("从", "自", "为", "向", "对", "用", "以", "随", "应", "继"):
            tail = statement.tail(passage, preposition.phrase)
            for head in statement.heads:
                relation = f"{preposition.word}…{action}"
                passage.triple("preposition", head, relation, tail, span, carried=statement.carried)


def state_birth(passage: Passage, statement: Statement, event: str) -> None:
    """出生于, 生于, 逝世于: the date and the place."""
    clause, span = statement.clause, statement.span
    dates = [*clause.times, *(t for t in clause.rest if t.tag == "time")]
    place = [t for t in clause.rest if t.tag != "time"]
    where = clause.preposition("在", "于")
    if not place and where:
        place = where.phrase
    if clause.temporal or any(token.tag == "v" for token in place):
        place = []
    for head in statement.heads:
        for date in [d for d in dates if d.value and d.value.is_point][:1]:
            passage.triple(
                "birth",
                head,
                f"{event}日期",
                date.text,
                span,
                carried=statement.carried,
                value=date.value,
            )
        if place:
            tail = statement.tail(passage, place)
            passage.triple("birth", head, f"{event}地", tail, span, carried=statement.carried)


def state_serial(
    passage: Passage,
    statement: Statement,
    heads: list[Name],
    serial: list[Token],
    objects: list[Token],
) -> None:
    """The verb after an object: 赴日本 | 留学, 聘请梁启超 | 为导师."""
    from tasks.rules.chinese.clauses import parse_clause

    clause = parse_clause(serial)
    if not clause.verb or clause.verb in EMPTY_VERBS or clause.negated:
        return
    if not clause.rest and statement.clause.verb in GOING and objects:
        tail = statement.tail(passage, objects)
        for head in heads:
            relation = f"在…{clause.verb}"
            passage.triple("serial", head, relation, tail, statement.span, carried=True)
    for part in split_coordination(without_indefinite(clause.rest)):
        tail = statement.tail(passage, part, _picked(passage, part))
        for head in heads:
            passage.triple("serial", head, clause.verb, tail, statement.span, carried=True)
