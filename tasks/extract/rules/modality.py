"""Modality: whether a clause is asserted, with its polarity and attribution.

A clause is judged by its own verb group ("may sell", "failed to sell"), then by the clauses that
govern it ("if they sell", "X believed that they sell"). The innermost modality other than
"asserted" counts; the attribution is determined separately. A triple contains only words of its own
clause, so a clause gives triples only if the clauses around it do not change what it states.
"""

from dataclasses import dataclass, replace

from tasks.extract.rules.clauses import FINITE, RELATIVES, Clause, Complement
from tasks.extract.rules.kinds import kind_of_noun
from tasks.extract.rules.lexicon import INFORMING, MODALITY_OF_WORD, NEGATING, OFFICES
from tasks.extract.rules.noun_phrases import (
    OUTSIDE,
    SIDE_REMARKS,
    is_one_of_several,
    phrase_without,
)
from tasks.extract.rules.passage import ParsedPassage
from tasks.extract.rules.tree import Tree
from tasks.text.function_words import NEGATORS
from tasks.text.languages import word_set
from tasks.text.standing import doubts

MODALITY_OF_MODAL = {
    **dict.fromkeys(["can", "ca", "could", "may", "might"], "possible"),
    **dict.fromkeys(["must", "shall", "should", "ought", "need"], "required"),
    **dict.fromkeys(["will", "wo", "'ll"], "future"),
    **dict.fromkeys(["would", "'d"], "supposed"),
}
CONDITIONS = word_set("if unless whether")
LIMITS = CONDITIONS - {"whether"}
# With the present tense these introduce a condition, with the past tense a time.
TEMPORAL = word_set("when whenever once")
CASES = word_set("case event")  # "in case X fails", "in cases where X fails"
INVERTED = word_set("should had were")  # "Should X fail, Y is called"
CHECKING = word_set("check see ask determine know verify wonder decide test tell confirm")
INSTANCES = word_set("example scenario")
PRESENT = frozenset(["VBZ", "VBP", "MD", "VB"])
NOBODY = word_set("nobody none nothing neither no-one")
NO = word_set("no neither nor")
WHOLLY = word_set("means way")  # "by no means", "in no way"
ACCOMPANYING = word_set("with at for")  # "at no cost", "for no reason"
PAUSING = word_set("stop quit")
# These adverbs weaken a clause.
DOUBTS = word_set(
    "rarely seldom hardly scarcely barely nearly almost hopefully only partially partly"
)
UNSTATED = word_set("possible intended supposed asked")
ONE_OF = ("asserted", "required", "future")
COMMAS = frozenset(",(–—-")
CLAUSES = word_set("ccomp conj xcomp advcl acl:relcl acl parataxis")
SPEAKING = frozenset(["person", "organisation", "work"])
SOURCES = OFFICES | word_set("source report study survey census records data")
DEEPEST = 12
MODALITY_OF_DOUBT = {
    "supposed": "supposed",
    "reported": "reported",
    "planned": "intended",
    "asked": "asked",
    "compared": "supposed",
}


@dataclass(frozen=True, slots=True)
class Standing:
    """Polarity, modality and attribution of a clause; no attribution means the text itself.

    `stated` tells whether the words of the clause alone state what it states in its sentence.
    """

    polarity: str
    modality: str
    attribution: str
    stated: bool = True


PLAIN = Standing("positive", "asserted", "")


def standing_of(passage: ParsedPassage, clause: Clause) -> Standing:
    """Return polarity, modality and attribution of a clause, and whether it states something."""
    tree = passage.tree
    supposed = _opens_condition(tree, clause)
    modality = "supposed" if supposed else _own_modality(tree, clause)
    stated = not supposed and _speaks_for_itself(passage, clause)
    source: int | None = None
    token = clause.predicate
    for depth in range(DEEPEST):
        label, above = tree.dep[token], tree.head[token]
        around, speaker = _around(tree, token)
        opening = tree.lower[passage.sentence_of(token)[0] :][:2]
        limited = conditions_of(tree, token) or opening == ["subject", "to"]
        if depth == 0 and not around and limited:
            around = "conditional"
        if label == "ccomp" or (depth and label == "xcomp"):
            informs = tree.lemma[above].lower() in INFORMING and _is_indicative(tree, token)
            meant = "reported" if informs else modality_of(tree.lemma[above])
            around = around or meant
            # "this is not to say that X fails"
            denied = any(_denies(tree, child) for child in tree.children[above])
            stated = stated and not (label == "ccomp" and denied)
            if label == "ccomp" and meant and speaker is None:
                speaker = _speaker(tree, above)
        if modality == "asserted" and around:
            modality = around
        stated = stated and around not in UNSTATED
        source = speaker if source is None else source
        if above == token or label not in CLAUSES:
            break
        token = above
    if _is_question(passage, clause):
        modality, stated = "asked" if modality == "asserted" else modality, False
    standing = Standing(_polarity(tree, clause), modality, _name(passage, source), stated)
    first, last = passage.sentence_of(clause.predicate)
    start = tree.start[first]
    sentence = tree.text[start : tree.end[last - 1]]
    standing = governed(standing, sentence, tree.start[clause.predicate] - start)
    # Of what may or must not be done all alternatives are meant; of what must be done, only one.
    one_of = standing.modality in ONE_OF and standing.polarity == "positive"
    one_of = one_of and _is_alternative(tree, clause.predicate)
    return replace(standing, modality="possible", stated=False) if one_of else standing


def _is_alternative(tree: Tree, verb: int) -> bool:
    """Return whether "or" joins a verb to another; the parser also joins participles to verbs."""
    other = tree.head[verb] if tree.dep[verb] == "conj" else tree.child(verb, "conj") or verb
    alike = tree.pos[other] == "VERB" and (tree.tag[other] == "VBG") == (tree.tag[verb] == "VBG")
    return alike and tree.pos[verb] == "VERB" and is_one_of_several(tree, verb)


def governed(standing: Standing, sentence: str, place: int) -> Standing:
    """Return the standing of a clause as changed by words that govern it from outside.

    `place` is a character of the clause in its sentence. Without such words, or if the clause is no
    plain assertion by itself, its standing is returned as it is.
    """
    if (standing.polarity, standing.modality) != ("positive", "asserted"):
        return standing
    doubt = next((d for d in doubts(sentence) if d.governed and d.holds(place)), None)
    # Of "announced plans to sell" only the sale is planned.
    if not doubt or doubt.kind == "contrasted" or doubt.kind == "planned" and place < doubt.cue[0]:
        return standing
    if doubt.kind == "denied":
        return replace(standing, polarity="negative", stated=False)
    return replace(standing, modality=MODALITY_OF_DOUBT[doubt.kind], stated=False)


def _is_indicative(tree: Tree, predicate: int) -> bool:
    """Return whether the form of a clause's verb tells that it states: "left", not "leave"."""
    verbs = [c for c in tree.children[predicate] if tree.dep[c] in ("aux", "aux:pass", "cop")]
    first = min([*verbs, predicate])
    return tree.tag[first] in FINITE and tree.lower[first] != tree.lemma[first].lower()


def _opens_condition(tree: Tree, clause: Clause) -> bool:
    """Return whether a clause is a condition without "if": "Should X fail", "In case X fails".

    "Where X fails" is one too, if the clause behind it permits or orders something.
    """
    verb, subject = min([*clause.verb, clause.predicate]), tree.subtree(clause.subject)[0]
    inverted = verb < clause.subject and tree.lower[verb] in INVERTED
    start, end = next((s for s in tree.sentences if s[0] <= verb < s[1]), (0, verb))
    if tree.lower[start] == "where" and tree.head[start] == clause.predicate:
        comma = tree.words.index(",", verb, end) if "," in tree.words[verb:end] else end
        return tree.tag[verb] in PRESENT and "MD" in tree.tag[comma:end]
    opens = verb == start
    return (inverted and opens) or tree.lower[max(subject - 2, 0) : subject] == ["in", "case"]


def _speaks_for_itself(passage: ParsedPassage, clause: Clause) -> bool:
    """Return whether a clause is understood without the other clauses of its sentence.

    This excludes sentences without a finite verb, clauses of purpose or circumstance, doubtful
    relative clauses, and clauses that an adverb weakens.
    """
    tree, token = passage.tree, clause.predicate
    first, last = passage.sentence_of(token)
    if FINITE.isdisjoint(tree.tag[first:last]):
        return False
    # A participle after a comma states an event of its own: "..., leaving Vienna".
    goes_on = tree.tag[token] == "VBG" and token > 0 and tree.words[token - 1] == ","
    if clause.subject_from == "controlled" and not goes_on:
        return False
    if clause.subject_from == "relative" and _is_doubtful(passage, clause):
        return False
    return not any(tree.lower[c] in DOUBTS for c in tree.children[token] if tree.dep[c] == "advmod")


def _is_doubtful(passage: ParsedPassage, clause: Clause) -> bool:
    """Return whether a relative clause may be about another noun, or about a subset of its own.

    "GSA Managers who miss it" are not all of them; in "a part of X, which" a parser cannot tell
    which of the two nouns is the antecedent.
    """
    tree, noun = passage.tree, clause.subject
    between = range(noun + 1, min([*clause.verb, clause.predicate]))
    commas = [token for token in between if tree.words[token] in COMMAS]
    if RELATIVES.isdisjoint(tree.lower[t] for t in between):
        return False
    own = passage.entities.get(noun)
    if own is not None and not commas:
        return tree.child(noun, "cop") is None
    nearest = passage.entities.get(commas[-1] - 1) if commas else None
    return nearest is not None and nearest is not own


def modality_of(lemma: str) -> str:
    """Return the modality that a word gives to its subordinate clause, empty if none."""
    return MODALITY_OF_WORD.get(lemma.lower(), "")


def _governors(tree: Tree, clause: Clause) -> list[int]:
    """Return the words that govern the clause's verbs: "planned" of "planned to sell"."""
    predicate = clause.predicate
    links = [t if t == predicate or tree.dep[t] == "xcomp" else tree.head[t] for t in clause.verb]
    to_noun = tree.dep[predicate] == "acl" and _has_to(tree, predicate)
    return [tree.head[t] for t in links if tree.dep[t] == "xcomp" or (to_noun and t == predicate)]


def _has_to(tree: Tree, token: int) -> bool:
    marks = (tree.lower[c] for c in tree.children[token] if tree.dep[c] == "mark")
    return tree.tag[token] == "VB" and "to" in marks


def _own_modality(tree: Tree, clause: Clause) -> str:
    if clause.subject_from == "implied":
        return "required"
    for token in clause.verb:
        modality = MODALITY_OF_MODAL.get(tree.lower[token])
        if modality and tree.tag[token] == "MD":
            return modality
    for governor in _governors(tree, clause):
        modality = modality_of(tree.lemma[governor])
        if modality:
            return modality
    purpose = tree.dep[clause.predicate] == "advcl" and _has_to(tree, clause.predicate)
    return "intended" if purpose else "asserted"


def conditions_of(tree: Tree, predicate: int) -> list[int]:
    """Return the heads of the conditions of a predicate: "if …", "as long as …".

    A condition before the first of coordinated predicates applies to all of them.
    """
    before = len(tree.words)
    for _ in range(DEEPEST):
        if _is_supposed(tree, predicate):
            break  # "if A or if B"
        own = [c for c in tree.children[predicate] if c < before and _is_condition(tree, c)]
        if own or tree.dep[predicate] != "conj":
            return own
        predicate = before = tree.head[predicate]
    return []


def _is_condition(tree: Tree, token: int) -> bool:
    if tree.lower[token] == "long":
        clause = tree.child(token, "advcl")
        return clause is not None and "as" in _marks(tree, clause)
    limits = tree.dep[token] == "advcl" and _is_supposed(tree, token)
    return limits and "even" not in (tree.lower[c] for c in tree.children[token])


def _is_supposed(tree: Tree, predicate: int) -> bool:
    """Return whether a clause is a condition: "if X fails", "when X fails", "in case X fails"."""
    if not LIMITS.isdisjoint(_marks(tree, predicate)):
        mark = next(c for c in tree.children[predicate] if tree.lower[c] in LIMITS)
        return mark == 0 or tree.lemma[mark - 1].lower() not in CHECKING
    if tree.dep[predicate] in ("acl", "acl:relcl"):
        noun = tree.head[predicate]
        before = tree.lower[max(noun - 1, 0)]
        return tree.lemma[noun].lower() in CASES and before in ("in", "the")
    opening = [c for c in tree.children[predicate] if tree.dep[c] in ("mark", "advmod")]
    if tree.dep[predicate] != "advcl" or TEMPORAL.isdisjoint(tree.lower[c] for c in opening):
        return False
    verbs = [c for c in tree.children[predicate] if tree.dep[c] in ("aux", "cop", "aux:pass")]
    return tree.tag[min([*verbs, predicate])] in PRESENT


def _around(tree: Tree, token: int) -> tuple[str, int | None]:
    """Return the modality that a predicate's dependents give it, and the speaker they name."""
    modality, speaker = "supposed" if _is_supposed(tree, token) else "", None
    for child in tree.children[token]:
        label, lower = tree.dep[child], tree.lower[child]
        as_long_as = lower == "as" and tree.lower[tree.head[token]] == "long"
        if label == "mark" and (lower in CONDITIONS or as_long_as):
            modality = "supposed"
        elif label == "advmod":
            modality = modality or modality_of(lower)
        elif tree.lemma[child].lower() in INSTANCES and _marks(tree, child) == {"in"}:
            modality = modality or "supposed"  # "in this example, X is routed to Y"
        elif label == "parataxis" and modality_of(tree.lemma[child]) == "reported":
            modality, speaker = modality or "reported", _speaker(tree, child)
        elif label.startswith("obl") and _is_source(tree, token, child):
            modality, speaker = modality or "reported", child
    return modality, speaker


def _is_source(tree: Tree, predicate: int, noun: int) -> bool:
    """Return whether "according to" says who states a clause, not how: "sorted according to age".

    The manner follows its verb without a comma, and is no name and nobody who speaks.
    """
    mark = next((c for c in tree.children[noun] if tree.lower[c] == "according"), None)
    if mark is None or "according" not in _marks(tree, noun):
        return False
    apart = mark < predicate or tree.words[mark - 1] == ","
    speaks = tree.lower[noun] in SOURCES or kind_of_noun(tree.lower[noun]) in SPEAKING
    return apart or speaks or tree.pos[noun] == "PROPN"


def _marks(tree: Tree, token: int) -> set[str]:
    return {tree.lower[c] for c in tree.children[token] if tree.dep[c] in ("mark", "case")}


def _speaker(tree: Tree, verb: int) -> int | None:
    """Return the source of a reporting verb: its subject, or its agent after "by"."""
    for _ in range(DEEPEST):
        speaker = tree.child(verb, "nsubj", "obl:agent")
        if speaker is not None:
            return tree.head[verb] if tree.tag[speaker] in ("WP", "WDT") else speaker
        if tree.dep[verb] not in ("conj", "xcomp"):
            return None
        verb = tree.head[verb]
    return None


def _name(passage: ParsedPassage, source: int | None) -> str:
    if source is None:
        return ""
    if source in passage.referents:
        return passage.referents[source]
    words = phrase_without(passage.tree, source, OUTSIDE | SIDE_REMARKS)
    return passage.tree.phrase(words)


def _polarity(tree: Tree, clause: Clause) -> str:
    phrases = [c.head for c in clause.complements if _may_deny(tree, clause, c)]
    own = (c for c in tree.children[clause.predicate] if tree.dep[c] != "discourse")
    denied = (
        any(_denies(tree, token) for token in clause.verb)
        or any(_is_none(tree, token) for token in (clause.subject, *phrases))
        or any(tree.lower[c] in NO for c in own)
    )
    failed = any(_is_given_up(tree, governor) for governor in _governors(tree, clause))
    return "negative" if denied != failed else "positive"


def _may_deny(tree: Tree, clause: Clause, complement: Complement) -> bool:
    """Return whether a "no" in a complement denies the clause: "by no means", not "at no cost".

    After a preposition it does in place of an object, and where the verb stands before the subject.
    """
    if complement.role != "oblique":
        return complement.role not in ("clause", "adverbial")
    inverted = complement.head < min(clause.verb, default=0) < clause.subject
    apart = any(c.role in ("object", "predicative") for c in clause.complements)
    apart = apart or tree.lower[complement.marks[0]] in ACCOMPANYING
    return inverted or not apart or tree.lower[complement.head] in WHOLLY


def _is_given_up(tree: Tree, verb: int) -> bool:
    """Return whether a verb denies what it governs: "stopped selling", not "stopped to sell"."""
    chained = (c for c in tree.children[verb] if tree.dep[c] == "xcomp")
    pauses = tree.lemma[verb].lower() in PAUSING and any(_has_to(tree, c) for c in chained)
    return tree.lemma[verb].lower() in NEGATING and not pauses


def _denies(tree: Tree, token: int) -> bool:
    return tree.lower[token] in NEGATORS and tree.lower[token + 1 : token + 2] != ["only"]


def _is_none(tree: Tree, head: int) -> bool:
    """Return whether a phrase is negated: "nobody", "no longer", "neither A nor B"."""
    # The parser does not always take "neither" for a part of the phrase.
    denies = "neither" in tree.lower[max(tree.subtree(head)[0] - 1, 0) : head]
    own = (c for c in tree.children[head] if tree.dep[c] in ("det", "advmod", "cc:preconj"))
    return denies or tree.lower[head] in NOBODY or any(tree.lower[c] in NO for c in own)


def _is_question(passage: ParsedPassage, clause: Clause) -> bool:
    """Return whether a clause's sentence is a question or has a blank to be filled in."""
    tree, (first, last) = passage.tree, passage.sentence_of(clause.predicate)
    blank = "__" in tree.text[tree.start[first] : tree.end[last - 1]]
    return blank or "?" in tree.words[max(first, last - 2) : last]
