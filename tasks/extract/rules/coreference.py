"""Coreference: pronouns and short descriptions with a safe antecedent; doubtful ones have none.

"We" is the speaker and "you" the audience named in the settings, except in quotations. In an
organisation's texts "the agency" and "the team" mostly mean somebody else, so only "the company"
stands for the speaker, and only if the passage names no organisation.
"""

from collections import defaultdict
from dataclasses import dataclass, field

from tasks.extract.rules.clauses import SUBJECTS
from tasks.extract.rules.lexicon import MODALITY_OF_WORD
from tasks.extract.rules.passage import ParsedPassage
from tasks.text.languages import word_set
from tasks.text.names import gender_of_title

MALE, FEMALE = word_set("he him his himself"), word_set("she her hers herself")
PERSONAL = MALE | FEMALE
SUBJECTIVE = word_set("he she himself herself")  # they mean a subject
NEUTRAL = word_set("it its itself")
WE = word_set("we our")
YOU = word_set("you your")
COMPANY = word_set("company organization organisation firm")
EXTRAPOSED = word_set("csubj ccomp xcomp advcl obl")
DEFINITE = word_set("the this")
GROUPS = word_set("they these")
FORMAL = word_set("take seem appear happen")  # it takes time to ...
RECENT = 3  # sentences within which an antecedent must be named
NOT_THE_ONE = word_set("a an another each every any one some")
SPECIFIC = word_set("nmod nmod:poss amod compound nummod acl acl:relcl appos nmod:desc conj")
CLASS_LABELS = word_set("appos nmod:desc")
MEN = word_set("son father husband brother man boy grandson nephew uncle king prince")
WOMEN = word_set("daughter mother wife sister woman girl niece aunt queen princess widow actress")


@dataclass(frozen=True, slots=True)
class SpokenOf:
    """The person whom "he" or "she" means after a text; `men` tells which persons are men."""

    person: str = ""
    men: dict[str, bool] = field(default_factory=dict)


def opens_with_pronoun(passage: ParsedPassage) -> bool:
    """Return whether a passage says "he" or "she" before it names a person."""
    first = min((n.first for n in passage.names if n.kind == "person"), default=None)
    return not PERSONAL.isdisjoint(passage.tree.lower[:first])


def resolve_references(passage: ParsedPassage, before: SpokenOf | None = None) -> SpokenOf:
    """Fill `passage.referents` and `passage.antecedents` in one pass in reading order.

    `before` is of whom the text before the passage speaks. Returns of whom its own end does.
    """
    resolver = _Resolver(passage, before or SpokenOf())
    for start, end in passage.tree.sentences:
        for token in range(start, end):
            resolver.resolve(token)
        resolver.remember(start, end)
    return SpokenOf(resolver.focus(), resolver.men)


class _Resolver:
    """Remembers the last person and the last other entity that a pronoun may mean."""

    def __init__(self, passage: ParsedPassage, before: SpokenOf) -> None:
        self.passage, tree = passage, passage.tree
        kind = passage.kind(passage.title) if passage.title else "unknown"
        # The title is the antecedent until the text names another entity.
        self.person = passage.title if kind in ("person", "unknown") else ""
        self.thing = passage.title if kind != "person" else ""
        self.speaker = passage.row.get("speaker", "")
        self.audience = passage.row.get("audience", "")
        # The names that each noun may mean; "" stands for an unnamed entity.
        self.called: defaultdict[str, set[str]] = defaultdict(set)
        self.named: dict[str, int] = {}  # first token of the last sentence with each name
        self.recent = [0] * RECENT  # first tokens of the last sentences
        self.subject = -1  # of the last sentence, if it is a noun
        self.men = dict(before.men)  # whether a person is a man, as "he" or "son" tell, or a woman
        self.sayers: set[str] = set()  # whom the last sentence quotes, or says what they said
        self.meant: dict[bool, tuple[str, int]] = {}  # last, by a man's pronouns and a woman's
        if before.person:
            self.person = before.person
            self.named[before.person] = 0
            passage.kinds[before.person] = "person"

        for token, name in passage.entities.items():
            for noun in self._classes(token):
                between = range(name.last, noun)  # "Eva, her son and Jo" are three
                apart = any(t in passage.entities or tree.tag[t] == "PRP$" for t in between)
                if tree.lower[noun] in MEN | WOMEN and not apart:
                    self.men.setdefault(name.name, tree.lower[noun] in MEN)

    def focus(self) -> str:
        near = self.person == self.passage.title or self._is_recent(self.person)
        return self.person if near else ""

    def _classes(self, token: int) -> list[int]:
        """Return the nouns that a name's token is said to be: "the physicist X is a chemist"."""
        tree = self.passage.tree
        subject = tree.head[token] if tree.dep[token] == "appos" else token
        predicates = [tree.head[subject]] if tree.dep[subject] in SUBJECTS else []
        return [*(c for c in tree.children[token] if tree.dep[c] in CLASS_LABELS), *predicates]

    def resolve(self, token: int) -> None:
        passage, tree = self.passage, self.passage.tree
        word = tree.lower[token]
        referent = ""
        if word in PERSONAL and self.person:
            man, start = word in MALE, passage.sentence_of(token)[0]
            referent = self._person_meant(token, man)
            if referent in self.sayers and passage.is_quoted(token):
                referent = self._other_person(token, man, referent)
            if referent and (token == start or word in ("he", "she")):  # "her" may be of anybody
                self.men.setdefault(referent, man)
            self.named[referent], self.meant[man] = start, (referent, start)
        elif word in NEUTRAL and self.thing and self._may_stand_for_a_thing(token):
            referent = self.thing if word != "it" or self._is_at_hand(token) else ""
        elif tree.tag[token] in ("PRP", "PRP$"):
            persons = ((WE, self.speaker), (YOU, self.audience))
            mine = tree.dep[token] in (*SUBJECTS, "nmod:poss") and not passage.is_quoted(token)
            referent = next((who for words, who in persons if mine and word in words), "")
        elif tree.tag[token] == "NN" and self._is_bare(token):
            referent = self._called(word)
        if referent:
            passage.referents[token] = referent
        elif self._goes_on(token):
            passage.antecedents[token] = tree.phrase(tree.subtree(self.subject))

    def _goes_on(self, token: int) -> bool:
        """Return whether a pronoun opens a sentence and agrees in number with the last subject."""
        tree, subject = self.passage.tree, self.subject
        if subject < 0 or token != self.passage.sentence_of(token)[0]:
            return False
        main = tree.dep[token] in SUBJECTS and tree.dep[tree.head[token]] == "ROOT"
        plural = tree.tag[subject] in ("NNS", "NNPS") or tree.child(subject, "conj") is not None
        it = tree.lower[token] == "it" and self._may_stand_for_a_thing(token)
        main = main and tree.child(subject, "acl") is None
        return main and (tree.lower[token] in GROUPS if plural else it)

    def _is_bare(self, token: int) -> bool:
        """Return whether a noun has only "the" or "this" and no modifiers: "the tower"."""
        tree, children = self.passage.tree, self.passage.tree.children[token]
        part = token in self.passage.entities or tree.dep[token] in CLASS_LABELS | {"compound"}
        bare = all(tree.dep[c] not in SPECIFIC and tree.tag[c] != "POS" for c in children)
        return bare and not part and any(tree.lower[c] in DEFINITE for c in children)

    def _is_recent(self, name: str) -> bool:
        return self.named.get(name, -1) >= self.recent[0]

    def _called(self, noun: str) -> str:
        """Return the only recent name that a noun may mean, else an empty string."""
        if self.called[noun]:
            first, *others = self.called[noun]
            return first if not others and self._is_recent(first) else ""
        kinds = {self.passage.kind(name.name) for name in self.passage.names}
        return self.speaker if noun in COMPANY and "organisation" not in kinds else ""

    def _may_stand_for_a_thing(self, token: int) -> bool:
        """Return whether "it" or "its" may have an antecedent; expletives do not: "it is easy to".

        The pronoun "it" must be a subject that opens its sentence.
        """
        tree = self.passage.tree
        if tree.lower[token] != "it" or tree.dep[token] not in SUBJECTS:
            return tree.lower[token] != "it"
        start, _ = self.passage.sentence_of(token)
        head = tree.head[token]
        formal = tree.pos[head] in ("ADJ", "NOUN") or tree.lemma[head] in FORMAL
        formal = formal and tree.child(head, *EXTRAPOSED) is not None
        return token == start and not formal

    def _is_at_hand(self, token: int) -> bool:
        """Return whether the subject of the sentence before, if it has one, is the last thing."""
        passage, tree = self.passage, self.passage.tree
        before = range(self.recent[-1], passage.sentence_of(token)[0])
        subjects = [t for t in before if tree.dep[t] in SUBJECTS]
        if not subjects:
            return True
        main = min(subjects, key=tree.depth)
        meant = [main, *(c for c in tree.children[main] if tree.dep[c] in CLASS_LABELS)]
        names = {passage.entities[t].name for t in meant if t in passage.entities}
        return self.thing in names | {passage.referents.get(main)}

    def _person_meant(self, token: int, man: bool) -> str:
        """Return whom "he" or "she" means: the subject before it, unless another is likelier."""
        subject, focus = self._person_before(token), self.focus()
        referent = subject or focus
        meant, sentence = self.meant.get(man, (referent, -1))
        meant = meant if sentence >= self.recent[-1] else referent
        if self._is_man(referent) is not None:
            likelier = (name for name in (referent, focus, meant) if self._is_man(name) == man)
            return next(likelier, "") or self._other_person(token, man, referent)
        if not subject:  # "Luke praised her. She came." tells that it is not Luke who came.
            return meant if not meant or self._is_man(meant) == man else referent
        is_sure = self.passage.tree.lower[token] in SUBJECTIVE or self._is_man(focus) != man
        return subject if is_sure else ""  # "Jo quoted her letters": her own, or those of another

    def _is_man(self, name: str) -> bool | None:
        """Return whether a person is a man, None if the text does not tell of all or part of it."""
        if title := gender_of_title(name):
            return title == "man"
        words = set(name.replace(",", "").split())
        known = ((set(other.replace(",", "").split()), man) for other, man in self.men.items())
        genders = {man for others, man in known if name and (words <= others or others <= words)}
        return genders.pop() if len(genders) == 1 else None

    def _person_before(self, token: int) -> str:
        """Return the nearest subject before a token that is a person; none is in "Jo met him"."""
        passage, tree = self.passage, self.passage.tree
        acted_on = tree.dep[token] in ("obj", "iobj", "obl") and tree.lower[token] not in SUBJECTIVE
        for earlier in range(token - 1, passage.sentence_of(token)[0] - 1, -1):
            name = passage.entities.get(earlier)
            is_own = acted_on and tree.head[earlier] == tree.head[token]
            if name and name.kind == "person" and tree.dep[earlier] in SUBJECTS and not is_own:
                return name.name if passage.is_quoted(earlier) == passage.is_quoted(token) else ""
        return ""

    def _other_person(self, token: int, man: bool, not_meant: str) -> str:
        """Return the only other person in this sentence, the one before or the title, if any."""
        near = (n for n in self.passage.names if self.recent[-1] <= n.first < token)
        others = {n.name for n in near if n.kind == "person" and n.name not in not_meant}
        sure = {name for name in (*others, self.passage.title) if self._is_man(name) == man}
        sure = sure or {name for name in others if self._is_man(name) is None}
        return sure.pop() if len(sure) == 1 else ""

    def remember(self, start: int, end: int) -> None:
        """After a sentence, make its main subject the antecedent of the pronouns that follow."""
        self.recent = [*self.recent[1:], start]
        passage, tree = self.passage, self.passage.tree
        roots = [t for t in range(start, end) if tree.dep[t] == "ROOT"]
        main = tree.child(roots[0], *SUBJECTS) if roots else None
        if main is None or main not in passage.antecedents:
            names = [passage.entities[main].name] if main in passage.entities else []
            person = any(passage.kind(name) == "person" for name in names)
            thing = main is not None and tree.pos[main] in ("NOUN", "PROPN") and not person
            self.subject = main if main is not None and thing else -1
        self.sayers, first = set(), None  # subject of a main clause with a name
        for token in range(start, end):
            name = passage.entities.get(token)
            unique = NOT_THE_ONE.isdisjoint(tree.lower[c] for c in tree.children[token])
            if name is None:
                if not unique:
                    self._meet(token)
                continue
            self.named[name.name] = start
            if name.last - name.first > 1:
                self.called[tree.lower[name.last - 1]].add(name.name if unique else "")
            subject = tree.head[token] if tree.dep[token] == "appos" else token
            reports = MODALITY_OF_WORD.get(tree.lemma[tree.head[subject]]) == "reported"
            if reports and tree.dep[subject] in SUBJECTS:
                self.sayers.add(name.name)
            is_main = tree.dep[tree.head[subject]] in ("ROOT", "conj")
            if first is None and tree.dep[subject] in SUBJECTS and is_main:
                first = token
            for noun in self._classes(token):
                if tree.tag[noun] == "NN" and tree.child(noun, "nmod:poss") is None:
                    self.called[tree.lower[noun]].add(name.name)
        if first is None:
            return
        name = passage.entities[first]
        kind = passage.kind(name.name)
        if tree.tag[first] == "NNPS" or tree.child(first, "conj") is not None:
            self.person = self.thing = ""  # "they"
        # A work behind "his" is taken for a person, as in Fiori.
        elif kind == "person" and (not name.first or tree.tag[name.first - 1] != "PRP$"):
            self.person = name.name
            if name.name not in passage.stated_kinds and " " not in name.name:
                self.thing = ""  # the kind is a guess, so "it" may mean the name
        else:
            self.thing = name.name
            if kind == "unknown" and self.person != passage.title:
                self.person = ""

    def _meet(self, token: int) -> None:
        """Note an unnamed entity; "a city" in "Bern is a city" has a name."""
        tree = self.passage.tree
        named = tree.child(token, *SUBJECTS) if tree.child(token, "cop") is not None else None
        if tree.dep[token] == "appos":
            named = tree.head[token]
        if named is None or named not in self.passage.entities | self.passage.referents:
            self.called[tree.lower[token]].add("")
