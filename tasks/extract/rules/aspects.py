"""Entity-aspect notes: what triples and descriptions leave out, in whole sentences.

Sentences with the most words that are not stated yet are chosen, up to a share of the passage;
neighbours about one entity make one note of at most three sentences. The heading names the aspect,
else the main topic of the sentences does.
"""

import re
from collections import Counter

from tasks.extract.extracted import Mention
from tasks.extract.rules.clauses import FINITE, SUBJECTS
from tasks.extract.rules.coreference import PERSONAL
from tasks.extract.rules.kinds import kind_of_noun
from tasks.extract.rules.lexicon import ASPECT_OF_WORD
from tasks.extract.rules.passage import ParsedPassage
from tasks.extract.rules.repairs import CALENDAR_NOUNS
from tasks.extract.rules.tree import Tree
from tasks.text.languages import word_set

_OF_PERSONS = frozenset(["education", "early life", "career", "death", "family"])
_OF_OTHERS = word_set("population geography economy government history structure use properties")
_NOT_OF = {
    "person": _OF_OTHERS,
    "place": _OF_PERSONS | {"works", "structure", "use"},
    "organisation": _OF_PERSONS | {"population", "properties", "geography"},
    "thing": _OF_PERSONS | {"works", "population", "government", "economy", "awards", "battles"},
    "work": _OF_PERSONS | {"population", "geography", "government", "works", "battles"},
    "event": _OF_PERSONS | {"population", "works"},
}


def topic_of_lemma(lemma: str, kind: str) -> str:
    """Return the aspect of an entity of a kind that a word speaks for, empty if none."""
    topic = ASPECT_OF_WORD.get(lemma, "")
    if topic in _NOT_OF.get(kind, ()):
        return ""
    discoverer = kind in ("person", "organisation")
    return "discoveries" if discoverer and topic == "discovery" else topic


MOST_SENTENCES = 3
LARGEST_SHARE = 0.6
CONTENT = word_set("NOUN PROPN VERB ADJ NUM ADV")
NEW_WORDS = 2
MOST_WORDS_OF_A_SIDE = 4
JOINTS = word_set("and or in on at of for with from as to by")
EMPTY = word_set("part place one use way last first help end other name fact")
# A sentence that opens with these is understood only with the one before.
LEANING = word_set(
    "this that these those they them here there such both either neither also and but or so then "
    "thus therefore however instead otherwise additionally moreover furthermore meanwhile finally "
    "next first second third lastly similarly likewise click see note please"
)
_FULL_STOP = re.compile(r"[.!][\"'”’)\]]*\Z")
DETERMINED = word_set("the a an his her its their other some")


def find_notes(passage: ParsedPassage, stated_words: set[str]) -> list[Mention]:
    """Return notes on sentences with words outside `stated_words` (lower case), in order."""
    groups: list[tuple[str, list[int]]] = []
    for number in _choose(passage, stated_words):
        entity = _entity(passage, number)
        owner, numbers = groups[-1] if groups else ("", [])
        follows = number - 1 in numbers[-1:] and len(numbers) < MOST_SENTENCES
        if entity == owner and follows:
            numbers.append(number)
        else:
            groups.append((entity, [number]))
    return [_note(passage, entity, group) for entity, group in groups if entity]


def _choose(passage: ParsedPassage, stated_words: set[str]) -> list[int]:
    """Return the sentences with the most unsaid words for their length, within the budget."""
    budget = LARGEST_SHARE * len(passage.tree.text.split())
    tree = passage.tree
    fresh = [_fresh_words(tree, start, end, stated_words) for start, end in tree.sentences]
    lengths = [
        len(tree.text[tree.start[start] : tree.end[end - 1]].split())
        for start, end in tree.sentences
    ]
    chosen: list[int] = []
    covered: set[str] = set()
    while True:
        gains = [
            (len(words - covered) / (length + 3), -number)
            for number, (words, length) in enumerate(zip(fresh, lengths, strict=True))
            if number not in chosen
            and length <= budget
            and len(words - covered) >= NEW_WORDS
            and is_whole_sentence(tree, *tree.sentences[number])
        ]
        if not gains:
            return sorted(chosen)
        best = -max(gains)[1]
        budget -= lengths[best]
        covered |= fresh[best]
        chosen.append(best)


def is_whole_sentence(tree: Tree, start: int, end: int) -> bool:
    """Whether a sentence says something by itself: no item, caption, question or lead of a list."""
    words = tree.text[tree.start[start] : tree.end[end - 1]].strip()
    finite = not FINITE.isdisjoint(tree.tag[start:end])
    first = next((t for t in range(start, end) if tree.words[t][:1].isalnum()), start)
    leans = tree.lower[first] in LEANING
    opens = tree.words[first][:1].isupper() or tree.words[first][:1].isdigit()
    return finite and opens and not leans and bool(_FULL_STOP.search(words))


def _fresh_words(tree: Tree, start: int, end: int, stated_words: set[str]) -> set[str]:
    words = {
        tree.lower[t]: tree.lemma[t].lower() for t in range(start, end) if tree.pos[t] in CONTENT
    }
    return {lemma for word, lemma in words.items() if stated_words.isdisjoint((word, lemma))}


def _entity(passage: ParsedPassage, number: int) -> str:
    """Return what a sentence is about: the title under a heading, else its subject's name."""
    tree = passage.tree
    if passage.title and passage.row["headings"]:
        return passage.title
    start, end = tree.sentences[number]
    for token in range(start, end):
        if tree.dep[token] in SUBJECTS and tree.dep[tree.head[token]] == "ROOT":
            name = passage.entities.get(token)
            if name is not None:
                return name.name
            if token in passage.referents:
                return passage.referents[token]
    return passage.title


def _note(passage: ParsedPassage, entity: str, group: list[int]) -> Mention:
    tree = passage.tree
    first, last = tree.sentences[group[0]][0], tree.sentences[group[-1]][1]
    heading = passage.row["headings"].rsplit(" > ", 1)[-1].strip(" _*")
    side, noun = _side(passage, entity, first, last)
    aspect = heading or side or noun or "description"
    lowered = aspect if any(c.isupper() for c in aspect[1:]) else aspect.lower()
    named = f"the {entity}" if _takes_article(passage, entity) else entity
    question = question_of(lowered, named, a_side=bool(heading or side))
    return {
        "entity": entity,
        "kind": passage.kind(entity),
        "aspect": lowered,
        "question": question,
        **passage.stretch(first, last, 0.85 if heading else 0.7),
    }


def _kind_of(passage: ParsedPassage, entity: str) -> str:
    """Return the kind of an entity; a person if the passage says "he" or the surname alone."""
    kind = passage.kind(entity)
    surname = entity.rpartition(" ")[2]
    pronouns = (t for t, name in passage.referents.items() if name in (entity, surname))
    spoken_of = any(passage.tree.lower[t] in PERSONAL for t in pronouns)
    person = spoken_of or passage.kind(surname) == "person"
    return "person" if kind == "unknown" and person else kind


def _takes_article(passage: ParsedPassage, entity: str) -> bool:
    """Whether the passage says "the Danube"."""
    tree = passage.tree
    if passage.kind(entity) == "person":
        return False
    return any(
        name.name == entity and name.first and tree.lower[name.first - 1] == "the"
        for name in passage.names
    )


def question_of(aspect: str, entity: str, *, a_side: bool) -> str:
    """Return the question that a note answers, on a side of an entity or on it and something."""
    if aspect.endswith("?"):
        return aspect[:1].upper() + aspect[1:]
    if aspect == "description":
        return f"What is known about {entity}?"
    if not a_side:
        return f"What is known about {entity} in connection with the {aspect}?"
    if "," in aspect or len(aspect.split()) > MOST_WORDS_OF_A_SIDE or JOINTS & {*aspect.split()}:
        return f"What is known about {entity} as regards {aspect}?"
    article = "" if aspect.split()[0] in DETERMINED else "the "
    return f"What is known about {article}{aspect} of {entity}?"


def _side(passage: ParsedPassage, entity: str, first: int, last: int) -> tuple[str, str]:
    """Return the side that verbs and nouns speak for, and the most telling noun."""
    tree = passage.tree
    votes: Counter[str] = Counter()
    nouns: Counter[str] = Counter()
    own = {word.lower() for word in entity.split()}
    kind = _kind_of(passage, entity)
    for token in range(first, last):
        lemma = tree.lemma[token].lower()
        topic = topic_of_lemma(lemma, kind)
        if topic:
            votes[topic] += 1
        common = tree.tag[token] == "NN" and tree.words[token].islower()
        telling = kind_of_noun(lemma) != kind or kind == "unknown"
        known = lemma in own or lemma in CALENDAR_NOUNS | EMPTY or token in passage.entities
        if common and telling and not known:
            nouns[lemma] += 2 if tree.dep[token] in (*SUBJECTS, "obj", "ROOT") else 1
    aspect = max(votes, key=votes.__getitem__, default="")
    return aspect, max(nouns, key=nouns.__getitem__, default="")
