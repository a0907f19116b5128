"""Pronouns and short descriptions that safely stand for a name; in doubt they stand for nothing."""

from tasks.extract.rules.clauses import SUBJECTS
from tasks.extract.rules.passage import ParsedPassage
from tasks.text.languages import word_set

PERSONAL = word_set("he she him his her hers himself herself")
NEUTRAL = word_set("it its itself")
EXTRAPOSED = word_set("csubj ccomp xcomp advcl obl")
POINTING = word_set("the this")


def resolve_references(passage: ParsedPassage) -> None:
    """Fill `passage.referents`, walking through the passage once in reading order."""
    resolver = _Resolver(passage)
    for start, end in passage.tree.sentences:
        for token in range(start, end):
            resolver.resolve(token)
        resolver.remember(start, end)


class _Resolver:
    """Remembers who was last spoken of as a person and as anything else."""

    def __init__(self, passage: ParsedPassage) -> None:
        self.passage = passage
        kind = passage.kind(passage.title) if passage.title else "unknown"
        # The title is what a text is about until it speaks of something else.
        self.person = passage.title if kind in ("person", "unknown") else ""
        self.thing = passage.title if kind != "person" else ""
        self.called = self._title_noun()

    def resolve(self, token: int) -> None:
        passage, tree = self.passage, self.passage.tree
        word = tree.lower[token]
        if word in PERSONAL and self.person:
            passage.referents[token] = self._person_before(token) or self.person
        elif word in NEUTRAL and self.thing and self._may_stand_for_a_thing(token):
            if passage.kind(self.thing) != "person":
                passage.referents[token] = self.thing
        elif (
            self.called
            and word == self.called
            and token not in passage.entities
            and any(tree.lower[c] in POINTING for c in tree.children[token])
            and not any(
                tree.dep[c] in ("nmod", "amod", "compound", "nummod") for c in tree.children[token]
            )
        ):
            passage.referents[token] = passage.title

    def _may_stand_for_a_thing(self, token: int) -> bool:
        """Whether "it" opens its sentence as a subject and is no mere form: "it is easy to ..."."""
        tree = self.passage.tree
        if tree.dep[token] == "expl":
            return False
        if tree.lower[token] != "it" or tree.dep[token] not in SUBJECTS:
            return tree.lower[token] != "it"
        start, _ = self.passage.sentence_of(token)
        head = tree.head[token]
        formal = tree.pos[head] == "ADJ" and tree.child(head, *EXTRAPOSED) is not None
        return token == start and not formal

    def _person_before(self, token: int) -> str:
        """Return the one person named earlier in the sentence as a subject, if any."""
        passage, tree = self.passage, self.passage.tree
        start, _ = passage.sentence_of(token)
        for earlier in range(token - 1, start - 1, -1):
            name = passage.entities.get(earlier)
            if name and name.kind == "person" and tree.dep[earlier] in SUBJECTS:
                return name.name
        return ""

    def remember(self, start: int, end: int) -> None:
        """After a sentence, its main subject is who pronouns mean next."""
        passage, tree = self.passage, self.passage.tree
        for token in range(start, end):
            name = passage.entities.get(token)
            if name is None or tree.dep[token] not in SUBJECTS:
                continue
            if tree.dep[tree.head[token]] not in ("ROOT", "conj"):
                continue
            if passage.kind(name.name) == "person":
                self.person = name.name
            else:
                self.thing = name.name
            return

    def _title_noun(self) -> str:
        """Return the noun that the passage says its title is ("film" for "X is a 1999 film")."""
        passage, tree = self.passage, self.passage.tree
        for token, name in passage.entities.items():
            if tree.dep[token] in SUBJECTS and name.name == passage.title:
                noun = tree.head[token]
                if tree.child(noun, "cop") is not None and tree.pos[noun] == "NOUN":
                    return tree.lower[noun]
        return ""
