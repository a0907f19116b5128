"""The input of the patterns: noun phrases, and clauses whose subject is resolved."""

from dataclasses import dataclass, field

from tasks.extract.rules.chinese.acting import verb_positions
from tasks.extract.rules.chinese.clauses import Clause
from tasks.extract.rules.chinese.lexicon import AND, CLASSIFIERS, INDEFINITE
from tasks.extract.rules.chinese.naming import TypedName, is_name
from tasks.extract.rules.chinese.passage import PassageReading
from tasks.extract.rules.chinese.tokens import Token
from tasks.extract.rules.chinese.whole import MARKED, NAMES, has_word, is_whole
from tasks.text.chinese_words import tag_of
from tasks.text.values import Value

RESPECTIVELY = frozenset(["分别"])
Tail = tuple[str | TypedName, Value | None, Value | None]  # with its time and value


def words(tokens: list[Token]) -> str:
    """Return the text of a phrase, with titles of works without their brackets."""
    return "".join(t.text.strip("《》") if t.tag == "work" else t.text for t in tokens)


def without_indefinite(part: list[Token]) -> list[Token]:
    """Return a phrase without indefinite determiners (一种, 一个, 个) or particles at its ends."""
    while len(part) > 1 and (part[0].text in INDEFINITE or part[0].text in CLASSIFIERS):
        part = part[1:]
    while part and (part[-1].tag in ("c", "u", "y", "x") and part[-1].text != "之一"):
        part = part[:-1]
    while part and part[0].tag in ("d", "x", "c", "u"):
        part = part[1:]
    return part


def split_serial(rest: list[Token], *, pivot: bool = False) -> tuple[list[Token], list[Token]]:
    """Split the object from a second verb that follows it: 进入剑桥大学 | 学习.

    A verb before a 的 belongs to the object, unless the object of the first verb is the subject of
    the second (`pivot`).
    """
    for position in verb_positions(rest, 1, len(rest)):
        if rest[position - 1].text in ("的", *AND):
            continue
        if pivot or not any(token.text == "的" for token in rest[position:]):
            return rest[:position], rest[position:]
    return rest, []


def split_coordination(tokens: list[Token]) -> list[list[Token]]:
    """Return the conjuncts of a phrase: A、B和C等地 gives three, 导弹和航天的奠基人 stays whole."""
    parts: list[list[Token]] = [[]]
    listed: list[Token] = []
    for position, token in enumerate(tokens):
        if token.text in ("等", "等等"):
            listed = tokens[position + 1 :]
            break
        modified = token.text != "、" and any(t.text == "的" for t in parts[-1])
        modifies = any(later.text == "的" for later in tokens[position:])
        if token.text in AND and not modified and not modifies:
            parts.append([])
        elif token.tag == "work" and parts[-1] and parts[-1][-1].tag == "work":
            parts.append([token])
        else:
            parts[-1].append(token)
    parts = [part for part in parts if part]
    # A、B两种元素, A和B九个省区: the phrase that counts the conjuncts is not one of them.
    if len(parts) > 1 or (parts and parts[-1][0].tag == "work"):
        counted = (i for i, token in enumerate(parts[-1]) if i and token.tag in ("number", "m"))
        cut = next(counted, len(parts[-1]))
        follow = len(parts[-1]) - cut
        if follow and (follow > 2 or parts[-1][0].tag in ("n", "vn", "v")):
            return [tokens]
        parts[-1] = parts[-1][:cut]
    alone = all(map(_is_alone, parts)) or _are_alike(parts)
    if (len(parts) > 1 or listed) and not (alone and (not listed or all(map(is_name, parts)))):
        return [tokens]
    return parts


def _is_alone(part: list[Token]) -> bool:
    """Return whether a conjunct is complete by itself, unlike those of 安全事故、水质|污染|机制."""
    word = part[0]
    known = word.tag in MARKED | NAMES or (len(word.text) > 1 and bool(tag_of(word.text)))
    known = known or (len(word.text) > 2 and "和" not in word.text[:-1])
    return is_name(part) or (len(part) == 1 and known and (word.nominal or word.tag == "time"))


def _are_alike(parts: list[list[Token]]) -> bool:
    """Return whether conjuncts have one structure: 社会|工作、行政|管理, 北宋文学家、书法家."""
    whole = all(is_whole(part) and all(token.nominal for token in part) for part in parts)
    ends = {part[-1].text[-1] for part in parts}
    return whole and (len({len(part) for part in parts}) == 1 or len(ends) == 1)


def is_coordination(part: list[Token]) -> bool:
    """Return whether a phrase is a coordination that cannot be split: 市和区、县财政局."""
    marks = [i for i, token in enumerate(part) if token.text == "的"]
    after = marks[-1] if marks else 0
    return any(token.text in AND for token in part[after:])


@dataclass(slots=True)
class Statement:
    """A clause whose subject is resolved.

    `heads` are the entities that are its subject or, with an `attribute`, its subject's possessors.
    `tails` are, by pattern and relation, those of which each belongs to the head in its place.
    """

    passage: PassageReading
    clause: Clause
    heads: list[TypedName]
    attribute: str
    span: tuple[int, int]
    tails: dict[tuple[str, str], list[Tail]] = field(default_factory=dict)

    @property
    def is_respective(self) -> bool:
        """Whether each of several subjects has its own object: 张伟和李强分别来自北京和上海."""
        several = len(self.heads) > 1 or has_word(self.clause.subject, AND)
        return several and has_word(self.clause.tokens, RESPECTIVELY)

    @property
    def when(self) -> Value | None:
        """The date that the clause gives, if any."""
        return self.clause.times[0].value if self.clause.times else None

    def add(
        self,
        pattern: str,
        relation: str,
        tail: str | TypedName,
        *,
        heads: list[TypedName] | None = None,
        when: Value | None = None,
        value: Value | None = None,
    ) -> None:
        """Add one triple for each head; if each has its own tail, keep it for `add_pairs`."""
        for head in self.heads if heads is None else heads:
            if not self.is_respective:
                self.passage.triple(
                    pattern, head, relation, tail, self.span, when=when, value=value
                )
            elif head == self.heads[0]:
                self.tails.setdefault((pattern, relation), []).append((tail, when, value))

    def add_pairs(self) -> None:
        """Add one triple for each head and the tail in its place, where there are as many."""
        for (pattern, relation), tails in self.tails.items():
            pairs = zip(self.heads, tails, strict=True) if len(tails) == len(self.heads) else ()
            for head, (tail, when, value) in pairs:
                self.passage.triple(
                    pattern, head, relation, tail, self.span, when=when, value=value
                )

    def tail(self, part: list[Token], picked: TypedName | None = None) -> str | TypedName:
        """Return the tail that a phrase forms: a typed name or text, which is empty if unusable."""
        passage, part = self.passage, without_indefinite(part)
        if not part:
            return ""
        text = words(part)
        if text in passage.forms or text == passage.title.text:
            return passage.title
        if picked is not None and (picked.kind in ("person", "work") or picked == passage.title):
            return picked
        if part[-1].tag == "number" and part[-1].text.endswith(("个", "种", "次")):
            return ""
        if not is_whole(part):
            return ""
        return passage.name_phrase(part) if is_name(part) else text
