"""Notes on an entity: whole sentences with the question that each answers.

A note is a sentence whose subject is the entity, together with the following sentences whose
subject is a pronoun for it. The question asks for the verb's complement: "X was founded by Y"
answers "Who was X founded by?". Under a heading that asks about an entity, the note is the first
sentences of the passage.
"""

import re
from collections.abc import Iterator

from tasks.extract.extracted import Mention
from tasks.extract.rules.clauses import SUBJECTS, Clause, Complement
from tasks.extract.rules.confidence import precision
from tasks.extract.rules.coreference import NEUTRAL, PERSONAL
from tasks.extract.rules.descriptions import is_whole_sentence, subject_name
from tasks.extract.rules.kinds import kind_of_noun
from tasks.extract.rules.lexicon import LIGHT_VERBS
from tasks.extract.rules.modality import standing_of
from tasks.extract.rules.noun_phrases import core_phrase
from tasks.extract.rules.passage import NameSpan, ParsedPassage
from tasks.extract.rules.repairs import CALENDAR_NOUNS
from tasks.extract.rules.tree import Tree
from tasks.text.function_words import NEGATORS
from tasks.text.languages import word_set
from tasks.text.values.english_dates import MONTHS

MOST_SENTENCES = 3
LONGEST_TITLE = 5  # words; a longer title is no name
# Prepositions that may end a question, each with the words that allow it.
_STRANDED = {
    "for": word_set("use know need responsible account aim design famous suitable care require"),
    "of": word_set("consist compose make capable accuse convict aware suspect comprise dispose"),
    "on": word_set("depend rely focus base concentrate run build operate"),
    "to": word_set(
        "belong refer lead relate apply contribute respond commit connect similar listen"
    ),
    "with": word_set("charge deal comply work associate compatible integrate interact collaborate"),
    "from": word_set("derive originate suffer descend result benefit arise"),
    "as": word_set("know serve act function classify define"),
    "into": word_set("divide develop split organize organise convert turn group"),
    "in": word_set("specialize specialise participate engage involve invest result interested"),
    "about": word_set("talk worry complain"),
}
_PLACES = word_set("in at on near")
_ASKS = re.compile(
    r"(?:what|how|when|where|why|who|whom|whose|which|is|are|was|were|do|does|did|can|will|should)"
    r"\b.*\?\Z",
    re.IGNORECASE,
)
_INTERVIEW = re.compile(r"\b(?:you|your|we|our|us)\b", re.IGNORECASE)
_WORDS = re.compile(r"[^\W_]{4,}")
STEM = 5  # initial letters that the forms of a word share
_EMPTY_STEMS = word_set(
    "what when where whose which there does this that with from have will would"
)
_SPANS = word_set("hour hours minute minutes days weeks months years")
_SITUATED = word_set("locate situate base headquarter live reside")
_MARKS = word_set("that how why whether what where when")
_DO = {"VBZ": "does", "VBP": "do", "VBD": "did"}
_SPOKEN = {"ca": "can", "wo": "will", "n't": "not", "n’t": "not", "'s": "is", "’s": "is"}
_AUXILIARIES = ("aux", "aux:pass", "cop")


def find_notes(passage: ParsedPassage, clauses: list[Clause], described: set[str]) -> list[Mention]:
    """Return notes in order, without overlaps and without those whose text is in `described`."""
    taken: list[Mention] = []
    for row, _ in candidates(passage, clauses):
        start, end = row["span_start"], row["span_end"]
        apart = all(end <= note["span_start"] or note["span_end"] <= start for note in taken)
        if row["text"] not in described and apart:
            taken.append(row)
    return sorted(taken, key=lambda row: row["span_start"])


def candidates(passage: ParsedPassage, clauses: list[Clause]) -> Iterator[tuple[Mention, str]]:
    """Yield notes with the rule that read each; those under question headings come first."""
    found = [("heading", note) for note in _answers(passage)]
    found += [("", note) for note in _of_clauses(passage, clauses)]
    for rule, (name, (aspect, question), sentences) in found:
        rule = rule or question.split()[0].lower()
        stretch = passage.stretch(sentences[0][0], sentences[-1][1], precision("note", rule))
        kind = passage.kind(name)
        row = {"entity": name, "kind": kind, "aspect": aspect, "question": question, **stretch}
        yield row, rule


_Note = tuple[str, tuple[str, str], list[tuple[int, int]]]


def _answers(passage: ParsedPassage) -> Iterator[_Note]:
    """Yield the first sentences of a passage whose heading asks about an entity by its name."""
    heading = passage.row["headings"].rsplit(" > ", 1)[-1].strip(" _*")
    if not _ASKS.match(heading) or _INTERVIEW.search(heading):
        return
    title = passage.row["title"]
    names = {name.name for name in passage.names} | {passage.title} - {""}
    if len(title.split()) <= LONGEST_TITLE and not _ASKS.match(f"{title}?"):
        names.add(title)
    headed = [
        name
        for name in sorted(names)
        if re.search(rf"\b{re.escape(name)}\b", heading, re.IGNORECASE)
    ]
    sentences = []
    for start, end in passage.tree.sentences[:MOST_SENTENCES]:
        if not is_whole_sentence(passage.tree, start, end):
            break
        sentences.append((start, end))
    if headed and sentences:
        name = max(headed, key=len)
        if _is_answered(passage.tree, heading, name, *sentences[0]):
            yield name, (heading.rstrip("?"), heading), sentences


def _is_answered(tree: Tree, heading: str, name: str, start: int, end: int) -> bool:
    """Return whether a sentence names the entity of a heading and a word of its question.

    If the heading asks for nothing but the entity itself, the sentence must define it.
    """
    stems = {word[:STEM] for word in tree.lower[start:end]}
    own = {word[:STEM] for word in _WORDS.findall(name.lower())}
    wanted = {word[:STEM] for word in _WORDS.findall(heading.lower())} - own - _EMPTY_STEMS
    if not wanted:
        root = next(t for t in range(start, end) if tree.dep[t] == "ROOT")
        copula = tree.child(root, "cop")
        first = next(iter(_WORDS.findall(name.lower())), "")[:STEM]
        opening = {word[:STEM] for word in tree.lower[start : copula or root]}
        return first in opening and (copula is not None or tree.lemma[root] in ("refer", "mean"))
    return bool(own & stems) and bool(wanted & stems)


def _of_clauses(passage: ParsedPassage, clauses: list[Clause]) -> Iterator[_Note]:
    """Yield the sentences whose subject is a name, with those that follow about it."""
    tree = passage.tree
    main = {
        passage.sentence_of(clause.predicate): clause
        for clause in clauses
        if tree.dep[clause.predicate] == "ROOT" and standing_of(passage, clause).stated
    }
    for (start, end), clause in main.items():
        name = subject_name(passage, clause)
        if name is None or not is_whole_sentence(tree, start, end):
            continue
        sentences = [(start, end), *_going_on(passage, name.name, end)]
        questions = (question_of_clause(passage, main[s], name) for s in sentences if s in main)
        question = next(filter(None, questions), None)
        if question is not None:
            yield name.name, question, sentences


def _going_on(passage: ParsedPassage, name: str, place: int) -> Iterator[tuple[int, int]]:
    """Yield the next sentences as long as their subject is a pronoun for the name."""
    tree = passage.tree
    following = [sentence for sentence in tree.sentences if sentence[0] >= place]
    for start, end in following[: MOST_SENTENCES - 1]:
        pronoun = tree.lower[start] in NEUTRAL | PERSONAL and tree.dep[start] in SUBJECTS
        if not (pronoun and passage.referents.get(start) == name):
            return
        if not is_whole_sentence(tree, start, end, leans=True):
            return
        yield start, end


def question_of_clause(
    passage: ParsedPassage, clause: Clause, name: NameSpan
) -> tuple[str, str] | None:
    """Return a clause's aspect, which is its verb, and the question for the verb's complement.

    None if no good question can be asked.
    """
    tree = passage.tree
    group = clause.verb
    auxiliaries = [t for t in group if tree.dep[t] in _AUXILIARIES]
    if not group or (tree.lower[group[0]] in NEGATORS):
        return None
    asking = _asking(passage, clause)
    if asking is None:
        return None
    word, behind = asking
    first, *rest = group
    denied = [t for t in rest if tree.lower[t] in NEGATORS]
    rest = [t for t in rest if t not in denied]
    verbs = [tree.lower[t] for t in rest]
    if first in auxiliaries:
        opening = _SPOKEN.get(tree.lower[first], tree.lower[first])
    elif tree.tag[first] in _DO:
        opening = _DO[tree.tag[first]]
        verbs.insert(0, tree.lemma[first].lower())
    else:
        return None
    if clause.kind == "copula":
        verbs.append(tree.words[clause.predicate])
    article = name.first > 0 and tree.lower[name.first - 1] == "the"
    called = f"the {name.name}" if article else name.name
    words = [word, opening, called, *(["not"] if denied else []), *verbs, *behind]
    stated = [_SPOKEN.get(tree.lower[t], tree.lower[t]) for t in group]
    if clause.kind == "copula":
        stated.append(tree.lower[clause.predicate])
    return " ".join(" ".join([*stated, *behind]).split()), " ".join(" ".join(words).split()) + "?"


def _asking(passage: ParsedPassage, clause: Clause) -> tuple[str, list[str]] | None:
    """Return the question word for the verb's complement, and the words after the verb."""
    tree, complements = passage.tree, clause.complements
    if clause.kind == "copula":
        if tree.pos[clause.predicate] != "ADJ" or clause.subject > clause.predicate:
            return None
        return _of_phrase(passage, clause, complements)
    if clause.kind != "verb":
        return None
    words = [tree.lemma[t].lower() for t in clause.verb]
    if any(c.role in ("indirect", "predicative") for c in complements) or "be" in words[1:-1]:
        return None
    if tree.tag[clause.verb[-1]] == "VBG" and (len(words) < 2 or words[-2] not in ("be", "not")):
        return None
    light = tree.lemma[clause.predicate].lower() in LIGHT_VERBS
    for complement in complements:
        if complement.role == "object" and complement.head > clause.predicate:
            if clause.passive:
                return None
            return _of_object(passage, clause, complement, light=light)
    if light and not clause.passive:
        return None
    for complement in complements:
        first = tree.subtree(complement.head)[0]
        if complement.role == "clause" and not clause.passive and tree.lower[first] in _MARKS:
            return "What", []
    return _of_phrase(passage, clause, complements)


def _of_object(
    passage: ParsedPassage, clause: Clause, complement: Complement, *, light: bool
) -> tuple[str, list[str]] | None:
    """Return "What", "Whom" or "How many moons" for an object."""
    tree, head = passage.tree, complement.head
    number = tree.child(head, "nummod")
    if number is not None and tree.tag[head] == "NNS" and not tree.children[number]:
        counted = [t for t in core_phrase(tree, head) if t > number]
        return f"How many {tree.join(counted)}", []
    if light or tree.pos[head] == "PRON" or _is_time(tree, head):
        return None
    between = range(max(clause.verb) + 1, tree.subtree(head)[0])
    if any(tree.pos[t] not in ("ADV", "SPACE", "PUNCT") for t in between):
        return None
    name = passage.entities.get(head)
    if name is None and [tree.lower[t] for t in tree.subtree(head)[:-1]] == ["the"]:
        return None
    if name is None:
        person = kind_of_noun(tree.lemma[head].lower()) == "person"
    else:
        person = passage.kind(name.name) == "person" and " " in name.name
    return ("Whom" if person else "What"), []


def _of_phrase(
    passage: ParsedPassage, clause: Clause, complements: list[Complement]
) -> tuple[str, list[str]] | None:
    """Return the question word and preposition for the first prepositional phrase of a verb."""
    tree = passage.tree
    for complement in complements:
        if complement.role not in ("agent", "oblique") or complement.head < clause.predicate:
            continue
        mark = tree.lower[complement.marks[0]] if len(complement.marks) == 1 else ""
        if complement.role == "agent":
            name = passage.entities.get(complement.head)
            return ("Who" if name and name.kind == "person" else "What"), ["by"]
        if _is_time(tree, complement.head):
            return ("When", []) if mark in ("in", "on", "at") else None
        name = passage.entities.get(complement.head)
        place = name is not None and passage.kind(name.name) == "place"
        if mark in _PLACES and (place or tree.lemma[clause.predicate] in _SITUATED):
            return "Where", []
        word = tree.lemma[clause.predicate].lower()
        return ("What", [mark]) if word in _STRANDED.get(mark, ()) else None
    return None


def _is_time(tree: Tree, head: int) -> bool:
    words = {tree.lower[t] for t in tree.subtree(head)}
    years = any(word.isdigit() and len(word) == 4 for word in words)
    return years or not words.isdisjoint(MONTHS.keys() | CALENDAR_NOUNS | _SPANS)
