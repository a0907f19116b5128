"""Statements: clauses in the wording of their sentence, with time, place, polarity and modality.

A clause gives one statement with a subject, a predicate and all its complements; the main
complement is the object. Without an object, predicative or clausal complement, the first
preposition becomes part of the predicate ("was born in"). The referent of a pronoun and the source
of a reported statement are given in separate columns.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field, replace

from tasks.extract.extracted import Mention, evidence_columns
from tasks.extract.rules.clauses import (
    FINITE,
    NARROWING,
    SUBJECTS,
    Clause,
    Complement,
    find_instructions,
)
from tasks.extract.rules.confidence import (
    STATEMENT_WEIGHTS,
    features,
    left_out,
    probability,
    sentence_features,
)
from tasks.extract.rules.kinds import kind_of_noun
from tasks.extract.rules.lexicon import TIME_WORDS, WHERE
from tasks.extract.rules.modality import conditions_of, standing_of
from tasks.extract.rules.noun_phrases import (
    OUTSIDE,
    SIDE_REMARKS,
    conjuncts,
    is_one_of_several,
    phrase_without,
    without_determiner,
)
from tasks.extract.rules.noun_triples import place_inside
from tasks.extract.rules.passage import ParsedPassage
from tasks.extract.rules.repairs import CALENDAR_NOUNS, DAYS
from tasks.extract.rules.tree import Tree
from tasks.extract.rules.triple import head_of, tells_when
from tasks.extract.rules.usefulness import CLAUSE_FEATURES
from tasks.text.function_words import NEGATORS
from tasks.text.languages import word_set
from tasks.text.names import strip_titles
from tasks.text.values import find_values
from tasks.text.values.english_dates import MONTHS

ASIDE = frozenset(["oblique", "agent", "time"])
TIMES = MONTHS.keys() | CALENDAR_NOUNS | DAYS | TIME_WORDS
WHEN = word_set("when before after until till since once during")
PLACES = word_set("here there abroad worldwide nationwide overseas home")
CONTRACTED = {"'s": "is", "'re": "are", "'m": "am", "'ve": "have", "'ll": "will"}
LONGEST_TIME = 100
READER = "you"
LIMITING = word_set("only except")
FEWEST_MEMBERS = 2
LONGEST_ADDRESS = 3  # Mrs, St: they say nothing of whom they address
JOINED = OUTSIDE | {"conj"}
BRACKETS = re.compile(
    r"\s?\(((?=[^()]*[^\W\d_])(?=[^()]*\d)"
    r"(?!see\b|fig|table|[^()]*\s\d{4}[a-z]?\))(?:[^\s()]+ ){0,5}[^\s()]+"
    r"|(?:whichever|if|unless|only|except)\b[^()\n]{2,80})\)",
    re.IGNORECASE,
)


@dataclass(slots=True)
class StatedClause:
    """A clause as tokens: `arguments` are the subject, the object and further phrases.

    `implied` is a word that the sentence leaves out; `time` and `place` are among the arguments, or
    adverbs.
    """

    rule: str
    clause: Clause
    predicate: list[int]
    arguments: list[list[int]]
    implied: str = ""
    time: list[int] = field(default_factory=list)
    place: list[int] = field(default_factory=list)


def statement_rows(passage: ParsedPassage, clauses: list[Clause]) -> list[Mention]:
    """Return the passage's statements as rows of StatementMention, without their ordinals."""
    return [statement_row(passage, statement) for statement in find_statements(passage, clauses)]


def find_statements(passage: ParsedPassage, clauses: list[Clause]) -> Iterator[StatedClause]:
    """Yield the statements of a passage: first from its clauses, then from its noun phrases."""
    tree = passage.tree
    for clause in [*clauses, *find_instructions(tree)]:
        if not _is_gerund_after_noun(tree, clause):
            subject = _subject(tree, clause)
            statement = _of_clause(passage, clause, subject)
            if subject and (statement.predicate or statement.implied):
                yield from _by_object(tree, statement)
    for token, label in enumerate(tree.dep):
        start, end = passage.sentence_of(token)
        # In a list item without a verb, what follows a dash is no apposition.
        if label in OF_NOUNS and not FINITE.isdisjoint(tree.tag[start:end]):
            of_noun = OF_NOUNS[label](passage, tree.head[token], token)
            if of_noun is not None and all(of_noun.arguments):
                yield of_noun


def _by_object(tree: Tree, statement: StatedClause) -> Iterator[StatedClause]:
    """Yield a statement once for each noun that is coordinated in its object.

    A statement whose object is not a plain coordination of nouns is yielded as it is.
    """
    subject, *others = statement.arguments
    first = [*others, []][0]
    tops = [token for token in first if tree.head[token] not in first]
    heads = [h for h in conjuncts(tree, tops[0]) if h in first] if len(tops) == 1 else []
    # "A and B of X": the modifier after the last noun may belong to all.
    plain = bool(heads) and not any(
        c > heads[-1] and tree.dep[c] in NARROWING for c in tree.children[heads[-1]]
    )
    plain = plain and all(tree.pos[h] in ("NOUN", "PROPN", "NUM") for h in heads)
    plain = plain and not is_one_of_several(tree, heads[0])
    members = [[t for t in phrase_without(tree, h, JOINED) if t in first] for h in heads]
    if len(members) < FEWEST_MEMBERS or not plain or not all(members):
        yield statement
        return
    for member in members:
        yield replace(statement, arguments=[subject, member, *others[1:]])


def statement_features(tree: Tree, statement: StatedClause) -> dict[str, float]:
    """Return the features from which a statement's confidence is computed."""
    length = len(statement.predicate)
    return features(tree, statement.clause, statement.rule, length, statement.arguments)


def statement_row(passage: ParsedPassage, statement: StatedClause) -> Mention:
    """Return a statement as a row of StatementMention, without its ordinal."""
    tree = passage.tree
    subject, *others = statement.arguments
    named = head_of(passage, statement.clause.subject)
    standing = standing_of(passage, statement.clause)
    aside = (statement.time, statement.place)
    tokens = sorted({*statement.predicate, *(t for a in statement.arguments for t in a)})
    meant = passage.antecedents.get(statement.clause.subject, "")
    name = " ".join((named.name if named else meant).split())
    reader = statement.clause.subject_from == "implied"
    return {
        "subject": READER if reader else tree.phrase(subject),
        "subject_name": passage.row.get("audience", "") if reader else name,
        "predicate": f"{statement.implied} {_spelled_out(tree, statement.predicate)}".strip(),
        "object": tree.phrase(others[0]) if others else "",
        "arguments": [
            *filter(None, (tree.phrase(a) for a in others[1:] if a not in aside)),
            *dict.fromkeys(words for phrase in others for words in _in_brackets(tree, phrase)),
        ],
        "time": tree.phrase(statement.time),
        "place": tree.phrase(statement.place),
        "polarity": standing.polarity,
        "modality": standing.modality,
        "attribution": standing.attribution,
        **evidence_columns(
            tree.span(tokens), probability(statement_features(tree, statement), STATEMENT_WEIGHTS)
        ),
        CLAUSE_FEATURES: {
            **statement_features(tree, statement),
            **sentence_features(passage, statement.clause),
            **left_out(passage, statement.clause, tokens),
        },
    }


def _spelled_out(tree: Tree, verb: list[int]) -> str:
    """Return a verb group in full where its first word is contracted: "is", not "'s"."""
    words = tree.phrase(verb)
    if not verb or tree.lower[verb[0]] not in CONTRACTED:
        return words
    first = verb[0]
    after = [t for t in verb[1:] if tree.tag[t] in ("VBN", "VBD")]
    perfect = tree.dep[first] == "aux" or any(tree.lower[t] == "been" for t in after)
    full = "has" if after and perfect and tree.lower[first] == "'s" else ""
    return (full or CONTRACTED[tree.lower[first]]) + words[len(tree.words[first]) :]


def _in_brackets(tree: Tree, phrase: list[int]) -> list[str]:
    """Return the number or condition in parentheses right after a phrase: "(Form 843)".

    The tree is built without parentheses. A year at the end belongs to a citation or to life dates.
    """
    after = BRACKETS.match(tree.text, tree.end[max(phrase)]) if phrase else None
    return [after[1]] if after else []


def _is_gerund_after_noun(tree: Tree, clause: Clause) -> bool:
    """Return whether a clause modifies a noun, without a subject: "the risk of losing"."""
    marked = tree.child(clause.predicate, "mark", "case") is not None
    return marked and clause.subject_from == "participle"


def _subject(tree: Tree, clause: Clause) -> list[int]:
    if clause.subject_from == "implied":
        return [clause.subject]
    there = tree.child(clause.predicate, "expl")
    if clause.kind == "existential" and there is not None:
        return [there]
    bearer = _bearer(tree, clause)
    if bearer is not None:
        return phrase_without(tree, bearer, OUTSIDE | SIDE_REMARKS)
    subject = phrase_without(tree, clause.subject, OUTSIDE | SIDE_REMARKS)
    own = tree.subtree(clause.predicate) if clause.subject_from == "participle" else []
    return subject if clause.subject in own else [t for t in subject if t not in own]


def _bearer(tree: Tree, clause: Clause) -> int | None:
    """Return the subject of which a participle's noun is predicated.

    It is X in "X is a film directed by Y".
    """
    noun = clause.subject
    denied = any(tree.lower[child] in NEGATORS for child in tree.children[noun])
    if clause.subject_from != "participle" or denied or tree.child(noun, "cop") is None:
        return None
    return tree.child(noun, "nsubj")


def _of_clause(passage: ParsedPassage, clause: Clause, subject: list[int]) -> StatedClause:
    tree = passage.tree
    mains = [c for c in clause.complements if c.role in ("object", "predicative")]
    if clause.kind == "existential":
        mains = [Complement("object", clause.subject)]
    clausal = [c for c in clause.complements if c.role == "clause"]
    if not mains:
        mains, clausal = clausal[:1], clausal[1:]
    extra = [c for c in clause.complements if c.role == "indirect"] + clausal
    aside = sorted((c for c in clause.complements if _is_aside(clause, c)), key=lambda c: c.head)
    conditions = conditions_of(tree, clause.predicate)
    aside = [c for c in aside if c.head not in conditions]
    limits = [_limit(tree, condition) for condition in conditions]
    implied = "is" if clause.subject_from == "participle" and clause.passive else ""
    verb = _with_adverbs(tree, clause)
    if mains and mains[0].role == "predicative" and verb[-1:] > [mains[0].head]:
        verb, mains = sorted({*verb, *_phrase(tree, mains[0])}), mains[1:]  # "is able to sell"
    if mains:
        marks = mains[0].marks
        phrase = [t for t in _phrase(tree, mains[0]) if t not in marks]
        once = [t for t in phrase if {"no", "only"} & {*tree.lower[t : t + 2]}]
        verb = [t for t in verb if t not in once]  # "no longer", "not only"
        phrase = [t for t in phrase if t not in {*verb, *sum(limits, [])}]
        if mains[0].role == "predicative":
            marks = [m for m in marks if tree.dep[m] != "mark"]
        rule, predicate = mains[0].role, verb + marks
        arguments = [subject, phrase, *(_phrase(tree, c) for c in extra + aside), *limits]
    elif aside:
        # The first prepositional phrase after the verb, else any such phrase, else a time.
        after = [c for c in aside if c.marks and c.head > clause.predicate]
        first = (after or [c for c in aside if c.marks] or aside)[0]
        others = [_phrase(tree, c) for c in aside if c is not first]
        phrase = _phrase(tree, first)
        words = phrase.index(first.marks[-1]) + 1 if first.marks else 0  # "directly on"
        rule, predicate = "oblique", verb + phrase[:words]
        arguments = [subject, phrase[words:], *others, *limits]
    else:
        adverbs = [
            c
            for c in clause.complements
            if c.role in ("adverb", "adverbial") and c.head not in [*verb, *conditions]
        ]
        rule, predicate = "bare", verb
        arguments = [subject, _phrase(tree, adverbs[0]) if adverbs else [], *limits]
    around = [c for c in clause.complements if c not in mains]
    return StatedClause(
        rule,
        clause,
        predicate,
        arguments,
        implied,
        time=next((_phrase(tree, c) for c in around if tells_time(passage, c)), []),
        place=next((_phrase(tree, c) for c in around if tells_place(passage, c)), []),
    )


def _limit(tree: Tree, predicate: int) -> list[int]:
    """Return the tokens of a condition without surrounding commas, with "only" before it."""
    words = tree.subtree(predicate)
    inside = [t for t in words if tree.pos[t] != "PUNCT"]
    first = inside[0] - (tree.lower[inside[0] - 1] in LIMITING)
    return [*range(first, inside[0]), *(t for t in words if inside[0] <= t <= inside[-1])]


def tells_time(passage: ParsedPassage, complement: Complement) -> bool:
    """Return whether a complement is a time: "in 1999", "last week", "after they left", "today"."""
    tree = passage.tree
    first = tree.lower[complement.marks[0]] if complement.marks else ""
    if complement.role == "adverbial":
        adverbs = (c for c in tree.children[complement.head] if tree.dep[c] == "advmod")
        return first in WHEN or any(tree.lower[c] in WHEN for c in adverbs)
    if complement.role not in ("oblique", "time", "adverb") or first == "to":
        return False
    head = complement.head
    number = tree.words[head][0].isdigit()
    timely = tree.lemma[head].lower() in TIMES and tree.lower[head] != "times"
    if tells_when(passage, complement) and (first in WHEN or number or timely):
        return head not in passage.entities
    if timely:
        return head not in passage.entities or tree.tag[head] != "NNP" or _is_date(tree, head)
    return number and _is_date(tree, head)


def _is_date(tree: Tree, head: int) -> bool:
    phrase = tree.phrase(tree.subtree(head))[:LONGEST_TIME]
    return any(value is not None and value.is_date for _, _, value in find_values(phrase, "en"))


def tells_place(passage: ParsedPassage, complement: Complement) -> bool:
    """Return whether a complement is a place: "in Paris", "at the station", "abroad"."""
    tree, head = passage.tree, complement.head
    if complement.role == "adverb":
        return tree.lower[head] in PLACES
    if complement.role != "oblique" or tree.lower[complement.marks[0]] not in WHERE:
        return False
    name = passage.entities.get(head)
    kind = passage.kind(name.name) if name else kind_of_noun(tree.lemma[head].lower())
    return kind == "place"


def _with_adverbs(tree: Tree, clause: Clause) -> list[int]:
    """Return the verb group with the single-word adverbs inside it or right before it."""
    verb = clause.verb
    if not verb:
        return verb
    adverbs = [
        child
        for child in tree.children[clause.predicate]
        if tree.dep[child] == "advmod"
        and not tree.children[child]
        and (verb[0] < child < verb[-1] or (child == verb[0] - 1 and tree.tag[child] == "RB"))
    ]
    return sorted({*verb, *adverbs})


def _is_aside(clause: Clause, complement: Complement) -> bool:
    if complement.role == "adverbial":
        return complement.head > clause.predicate and bool(complement.marks)
    return complement.role in ASIDE


def _phrase(tree: Tree, complement: Complement) -> list[int]:
    """Return a complement's tokens in order, with its prepositions, without a comma before."""
    if complement.role in ("clause", "adverbial"):
        phrase = tree.subtree(complement.head)
    elif complement.role == "predicative":
        phrase = _predicate_phrase(tree, complement.head)
    else:
        phrase = phrase_without(tree, complement.head)
    words = sorted({*complement.marks, *phrase})
    return words[1:] if words and tree.words[words[0]] == "," else words


def _predicate_phrase(tree: Tree, head: int) -> list[int]:
    """Return a predicative noun or adjective phrase without asides and obliques."""
    remarks = SIDE_REMARKS - {"acl:relcl"} | {"obl", "obl:agent", "obl:unmarked"}
    copula = tree.child(head, "cop")
    after = copula if copula is not None and copula < head else -1
    joined = [c for c in tree.children[head] if tree.dep[c] == "conj"]
    clauses = [c for c in joined if tree.child(c, *SUBJECTS, "cop") is not None]
    own = {t for clause in clauses for t in tree.subtree(clause)}
    return [t for t in phrase_without(tree, head, OUTSIDE | remarks, after) if t not in own]


def _of_apposition(passage: ParsedPassage, first: int, second: int) -> StatedClause:
    tree = passage.tree
    inner = place_inside(passage, second)
    if inner is not None:
        names = passage.entities[inner], passage.entities[second]
        arguments = [[*range(name.first, name.last)] for name in names]
        first, implied = inner, "is in"
    else:
        left = phrase_without(tree, first, OUTSIDE | SIDE_REMARKS | {"conj"})
        arguments, implied = [left, phrase_without(tree, second)], "is"
    return StatedClause("apposition", Clause("apposition", second, first), [], arguments, implied)


def _of_title(passage: ParsedPassage, name: int, title: int) -> StatedClause | None:
    """Return "X is a physicist" of "the physicist X"."""
    tree = passage.tree
    own = set(tree.subtree(title))
    named = [t for t in phrase_without(tree, name, JOINED | SIDE_REMARKS) if t not in own]
    words = without_determiner(passage, phrase_without(tree, title, JOINED | SIDE_REMARKS))
    address = tree.join(words)
    if len(address.rstrip(".")) <= LONGEST_ADDRESS and strip_titles(f"{address} X") == "X":
        return None
    return StatedClause("title", Clause("apposition", title, name), [], [named, words], "is")


def _of_possession(passage: ParsedPassage, thing: int, owner: int) -> StatedClause | None:
    """Return "X has a moon" of "X's moon"."""
    tree = passage.tree
    if tree.pos[owner] == "PRON" or passage.owns_within_name(owner):
        return None
    own = set(tree.subtree(owner))
    owned = [t for t in phrase_without(tree, thing, JOINED | SIDE_REMARKS) if t not in own]
    arguments = [phrase_without(tree, owner, OUTSIDE | SIDE_REMARKS), owned]
    return StatedClause("possession", Clause("apposition", thing, owner), [], arguments, "has")


OF_NOUNS = {"appos": _of_apposition, "nmod:desc": _of_title, "nmod:poss": _of_possession}
