"""Parse a Chinese clause into its time, subject, prepositional phrases, verb and object.

Chinese has these parts in a fairly fixed order, so one pass from left to right finds them. A verb
inside a relative clause (…的) is distinguished from the clause's own verb by the 的 and the verb
that follow it.
"""

from dataclasses import dataclass, field

from tasks.extract.rules.chinese.acting import (
    ASPECT,
    acts_first,
    described_end,
    has_verb,
    is_of_name,
    is_owned,
    is_verb,
    predicate_at,
    relative_end,
    verb_positions,
    while_end,
)
from tasks.extract.rules.chinese.lexicon import (
    ACCORDING,
    AFTER_TIME,
    ALIAS_RELATIONS,
    AND,
    COMPLEMENTS,
    COPULAS,
    NEGATIONS,
    PLACE_ENDS,
    PREPOSITIONS,
    PRONOUNS,
    WHILE,
)
from tasks.extract.rules.chinese.tokens import Token, text_of

EITHER = AND | {"或者", "或", "并", "并且"}
JOINS = AND | {"或者", "或", "的", "之"}
PAST = frozenset(["曾", "曾经"])
TOWARDS = frozenset(["对", "对于"])
PLACING = frozenset(["在", "从", "自", "于", "以"])


@dataclass(slots=True)
class Preposition:
    """A prepositional phrase before the verb."""

    word: str
    phrase: list[Token]


@dataclass(slots=True)
class Clause:
    """The parts of a clause; empty lists and strings for those it lacks."""

    tokens: list[Token]
    subject: list[Token] = field(default_factory=list)
    second: list[Token] = field(default_factory=list)
    times: list[Token] = field(default_factory=list)
    prepositions: list[Preposition] = field(default_factory=list)
    verb: str = ""
    rest: list[Token] = field(default_factory=list)
    negated: bool = False
    temporal: bool = False  # it gives the time of the next clause: …去世以后
    unread: bool = False  # meaningful tokens were skipped, or may belong to another part
    lost: bool = False  # tokens were skipped, or assigned to a wrong part
    verbs: list[Token] = field(default_factory=list)  # coordinated verbs: 拆除、迁移或者损毁

    @property
    def start(self) -> int:
        """The offset at which its first token starts."""
        return self.tokens[0].start

    @property
    def end(self) -> int:
        """The offset at which its last token ends."""
        return self.tokens[-1].end

    @property
    def past(self) -> str:
        """The word before its verb that says that it holds no more (曾, 曾经), if any."""
        before = self.tokens[: len(self.tokens) - len(self.rest)]
        end = self.subject[-1].end if self.subject else 0
        last = max(
            (i for i, t in enumerate(before) if t.text in PAST and t.start >= end), default=-1
        )
        acts = any(t.tag == "v" and t.text not in self.verb for t in before[last + 1 :])
        return "" if last < 0 or acts else before[last].text

    def preposition(self, *words: str) -> Preposition | None:
        """Return the first prepositional phrase with one of these prepositions, if any."""
        return next((p for p in self.prepositions if p.word in words), None)


def parse_clause(tokens: list[Token]) -> Clause:
    """Parse the tokens of one clause into its parts."""
    clause = Clause(tokens)
    position = 0
    while position < len(tokens):
        token = tokens[position]
        relative = relative_end(tokens, position)
        noun = described_end(tokens, position)
        stretch = while_end(tokens, position)
        if stretch is not None:  # 回国后|任教于大学
            clause.prepositions.append(Preposition("", tokens[position:stretch]))
            position = stretch
        elif noun is not None and not clause.subject:
            end = _take_nominal(Clause(tokens), noun)
            clause.subject = tokens[position:end]
            clause.unread |= any(token.text in PLACING for token in clause.subject)
            position = end
        elif relative is not None:
            # 主席在会上发表的讲话有意义: the subject so far belongs to the relative clause.
            clause.unread |= bool(clause.subject)
            position = _take_described(clause, position, relative)
        elif token.tag == "time":
            clause.times.append(token)
            position += 1
            while position < len(tokens) and tokens[position].text in AFTER_TIME:
                position += 1
        elif _is_preposition(tokens, position):
            position = _take_preposition(clause, position)
        elif token.text in NEGATIONS:
            clause.negated = True
            position += 1
        elif is_verb(tokens, position):
            _take_verb(clause, position)
            # 成立时称为…: the first verb only gives a time.
            if not (clause.rest and clause.rest[0].text in WHILE):
                break
            position = len(tokens) - len(clause.rest) + 1
            clause.verb, clause.rest = "", []
        elif _is_manner(tokens, position) or _says_when(tokens, position):
            position += 1
        elif token.nominal and token.tag != "f" or token.tag[0] == "r":
            position = _take_nominal(clause, position)
        elif token.text not in PREPOSITIONS and acts_first(tokens, position):
            position = _take_means(clause, position)
        else:
            clause.lost |= token.tag[0] in "vrzgf" or token.text == "所"
            clause.unread |= clause.lost
            position += 1
    _lift_alias(clause)
    return clause


def _is_preposition(tokens: list[Token], position: int) -> bool:
    word = tokens[position].text
    if word not in PREPOSITIONS or position + 1 >= len(tokens):
        return False
    # 为 is a copula if no verb follows it, or only one that modifies a noun: 为收集资料的部门.
    # Words such as 基于 are verbs in that case, too.
    if word != "为" and tokens[position].tag != "v":
        return True
    marks = [i for i in range(position + 1, len(tokens) - 1) if tokens[i].text == "的"]
    after = marks[-1] if marks else position
    return has_verb(tokens, after + 1, len(tokens))


def _lift_alias(clause: Clause) -> None:
    """Make the alias relation the verb of a clause without one: 巴金|原名|李尧棠."""
    for position, token in enumerate(clause.subject[:-1]):
        courtesy = clause.subject[position - 1].tag == "name" and token.text in ("字", "号")
        if (
            position
            and not clause.verb
            and token.text in ALIAS_RELATIONS
            and (len(token.text) > 1 or courtesy)
        ):
            clause.verb = token.text
            clause.rest = [*clause.subject[position + 1 :], *clause.second]
            clause.subject = clause.subject[:position]
            return


def _is_manner(tokens: list[Token], position: int) -> bool:
    """Return whether a word is an adverbial of manner: 坚定不移 | 扩大开放, 极大|地."""
    after = tokens[position + 1 : position + 2]
    if after and after[0].tag == "uv":
        return True
    if tokens[position].tag == "a" and after:
        return after[0].tag == "v" and _has_object(tokens, position + 1)
    says_how = tokens[position].tag in ("i", "vd", "ad")
    says_how |= tokens[position].tag == "b" and bool(after) and after[0].text not in COPULAS
    return says_how and bool(after) and is_verb(tokens, position + 1)


def _says_when(tokens: list[Token], position: int) -> bool:
    """Return whether a word is an adverbial of time: 最初 in 该协议|最初|由甲公司|开发."""
    token, after = tokens[position], tokens[position + 1 : position + 2]
    ruled = token.text.endswith(("朝", "代", "世", "唐", "宋", "晋", "汉", "魏"))  # 宋朝 acts, too
    return token.tag == "t" and bool(after) and after[0].tag[0] in "pdv" and not ruled


def _has_object(tokens: list[Token], position: int) -> bool:
    """Return whether an object or aspect particle follows a verb: 新|发放|贷款, 准确|把握|大势."""
    after = tokens[position + 1 : position + 2]
    whole = bool(after) and len(tokens[position].text) > 1
    return whole and (after[0].text in ASPECT or after[0].nominal or after[0].tag[0] == "r")


def _take_described(clause: Clause, position: int, relative: int) -> int:
    """Take a noun phrase with its relative clause (大学制造的样车) as subject; return its end."""
    tokens = clause.tokens
    if clause.subject:
        start = position
        position = next(i for i, token in enumerate(tokens) if token is clause.subject[0])
        between = tokens[position + len(clause.subject) : start]
        apart = clause.subject[0].text in PRONOUNS or any(token.tag in "dc" for token in between)
        clause.lost |= bool(clause.second) or apart
        clause.subject, clause.prepositions = [], []
    end = relative + 1
    described = Clause(tokens)
    end = _take_nominal(described, end)
    clause.subject = tokens[position:end]
    return end


def _take_preposition(clause: Clause, position: int) -> int:
    tokens = clause.tokens
    word = tokens[position].text
    start = position + 1
    end = _temporal_end(tokens, start)
    if end > start:
        clause.times.extend(token for token in tokens[start:end] if token.tag == "time")
        return end
    while end < len(tokens):
        token = tokens[end]
        if token.text in PLACE_ENDS:
            end += 1
            break
        if token.text in PREPOSITIONS and token.text not in (*AND, "被" if end == start else ""):
            break
        if end > start and token.text in PRONOUNS and tokens[end - 1].text not in AND:
            break
        before_number = end + 1 < len(tokens) and tokens[end + 1].tag == "number"
        if token.tag == "d" and not before_number:
            break
        if end > start and word not in (*ACCORDING, "经") and acts_first(tokens, end):
            break
        if (
            is_verb(tokens, end)
            and not _modifies(tokens, end)
            and not (end == start and word == "用")
        ):
            break
        end += 1
    phrase = tokens[start:end]
    times = [token for token in phrase if token.tag == "time"]
    if times and len(phrase) <= 2:
        clause.times.extend(times)
    elif phrase or word in ("被", "获", "受"):
        clause.prepositions.append(Preposition(word, phrase))
        # 华强北路从红荔路至深南大道的地下空间: the subject continues after the phrase.
        goes_on = any(token.text == "的" for token in phrase[1:])
        # 主席在开幕式上发表的讲话: the phrase belongs to a relative clause.
        acts = [i for i, token in enumerate(phrase) if token.tag == "v"]
        relative = bool(acts) and any(token.text == "的" for token in phrase[acts[0] :])
        clause.unread |= relative and bool(clause.subject)
        led = word in PLACING and text_of(tokens[end : end + 1]) != "为"  # 以软件为蓝本
        clause.lost |= (relative or goes_on) and bool(clause.subject) and led
        clause.unread |= word in ("从", "自", "在") and bool(clause.subject) and goes_on
    return max(end, position + 1)


def _take_means(clause: Clause, position: int) -> int:
    """Take a verb phrase before the predicate as a prepositional phrase: 使用坦克|进行演习."""
    tokens, end = clause.tokens, position + 1
    while end < (predicate_at(tokens) or 0):
        if tokens[end].tag == "d" or tokens[end].text in PREPOSITIONS:
            break
        end += 1
    clause.prepositions.append(Preposition(tokens[position].text, tokens[position + 1 : end]))
    clause.unread = True
    return end


def _temporal_end(tokens: list[Token], start: int) -> int:
    """Return the end of a time expression at `start`: 1934年, or 八国联军攻打北京时.

    Without a time expression, this is `start`.
    """
    if tokens[start].tag == "time":
        end = start + 1
        while end < len(tokens) and (tokens[end].text in AFTER_TIME or tokens[end].tag == "time"):
            end += 1
        return end if end < len(tokens) and tokens[end].text != "的" else start
    for end in range(start, len(tokens)):
        if tokens[end].text in WHILE and end + 1 < len(tokens):
            return end + 1 if has_verb(tokens, start, end) else start
    return start


def _modifies(tokens: list[Token], position: int) -> bool:
    """Return whether a verb is part of a modifier with 的: another verb follows, or 对 leads."""
    for end in range(position + 1, min(len(tokens) - 1, position + 8)):
        if tokens[end].text == "的":
            towards = tokens[position - 1].text in TOWARDS  # 对|损害公园的行为，
            led = towards and all(token.nominal for token in tokens[end + 1 :])
            return led or has_verb(tokens, end + 1, len(tokens))
        if tokens[end].text in ASPECT:
            return False
    return False


def _take_nominal(clause: Clause, position: int) -> int:
    tokens = clause.tokens
    verbs = frozenset(verb_positions(tokens, position + 1, len(tokens)))
    end = position
    while end < len(tokens):
        token = tokens[end]
        joins = token.text in JOINS
        if joins and not (end + 1 < len(tokens) and _can_follow(tokens, end)):
            break
        owned = token.tag == "v" and (is_owned(tokens, end) or is_of_name(tokens, end))
        if not joins and not (
            token.nominal or token.tag[0] == "r" or token.text in ("等", "·", "-") or owned
        ):
            break
        if token.tag == "d" or _is_manner(tokens, end) or (end in verbs and not (joins or owned)):
            break
        # A number after nouns is the predicate (面积 | 16410平方公里), but before another noun it
        # counts that noun (北京市 | 六个 | 地区).
        after = tokens[end + 1 : end + 2]
        counts = bool(after) and after[0].tag[0] in "nsj" and not clause.subject
        if (
            token.tag == "number"
            and end > position
            and tokens[end - 1].text not in ("的", "、")
            and not counts
        ):
            break
        if end > position and _says_when(tokens, end):
            break
        end += 1
    phrase = tokens[position:end]
    if not clause.subject:
        clause.subject = phrase
    else:
        clause.second = clause.second or phrase
    return max(end, position + 1)


def _can_follow(tokens: list[Token], position: int) -> bool:
    """Return whether a noun phrase continues after 和, 与 or 的."""
    after = tokens[position + 1]
    if tokens[position].text in ("与", "和") and any(
        token.text in ("一起", "共同", "结婚", "合作", "相识", "合并", "相似", "相同")
        for token in tokens[position + 2 :]
    ):
        return False
    return after.nominal or after.tag[0] in "ra" or is_owned(tokens, position + 1)


def _take_verb(clause: Clause, position: int) -> None:
    tokens = clause.tokens
    verb = tokens[position].text
    position += 1
    plain = True
    while position < len(tokens):
        text = tokens[position].text
        if text in ASPECT:
            position += 1
            plain = False
        elif plain and _goes_on(tokens, position, verb):
            verb += text
            position += 1
            plain = False
        elif (
            text in COMPLEMENTS
            and verb not in COPULAS
            and not verb.endswith(("于", "为", "到", "在"))
            or (
                tokens[position].tag == "v"
                and position == len(tokens) - 1
                and len(verb) <= 2
                and verb not in COPULAS
            )
        ):
            verb += text
            position += 1
        else:
            break
    begin = position - 1
    while position + 1 < len(tokens) and tokens[position].text in EITHER:
        after = position + 1
        after += tokens[after].tag == "d"
        if after >= len(tokens) or tokens[after].tag not in ("v", "vn"):
            break
        position = after + 1
        clause.verbs = tokens[begin:position]
        clause.unread = True
        position += text_of(tokens[position : position + 1]) in ASPECT
    clause.verb = verb
    clause.rest = tokens[position:]
    while clause.rest and clause.rest[-1].text in WHILE:
        clause.rest = clause.rest[:-1]
        clause.temporal = True


def _goes_on(tokens: list[Token], position: int, verb: str) -> bool:
    """Return whether a second verb forms a compound with the first: 主持|修建了京张铁路."""
    token = tokens[position]
    return (
        token.tag == "v"
        and len(token.text) == 2 == len(verb)
        and verb not in COPULAS
        and verb[-1] not in "为于在作成到"
        and position + 1 < len(tokens)
        and (tokens[position + 1].text in ASPECT or tokens[position + 1].nominal)
        and all(later.text != "的" for later in tokens[position:])
    )
