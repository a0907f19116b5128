"""Small repairs of parses where the grammar leaves no doubt."""

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterator

from tasks.extract.rules.attachments import ATTACHMENTS, CLAUSAL, HOLDERS, HYPHENS, PARTS, hang
from tasks.extract.rules.tree import Tree
from tasks.text.english_words import is_base_verb, is_word, verb_lemma
from tasks.text.languages import word_set
from tasks.text.values import find_values
from tasks.text.values.english_dates import MONTHS
from tasks.text.values.english_numbers import SCALE, SMALL
from tasks.text.values.units import CURRENCY_SIGNS, YEN_OR_YUAN

DATE_MARKS = word_set("in on since from until till during between")
DAYS = word_set("monday tuesday wednesday thursday friday saturday sunday")
CALENDAR = MONTHS.keys() | DAYS | {f"{day}s" for day in DAYS}
YEAR = re.compile(r"1\d{3}|20\d\d|\d{4}s")
CALENDAR_NOUNS = word_set("year month day week century decade summer winter time")
ARGUMENTS = word_set("obj obl xcomp obl:agent obl:unmarked iobj")
FUNCTIONS = word_set("case det mark cc punct advmod aux")
BEARING = word_set("case mark")
CLAUSE_BEARING = word_set("nsubj nsubj:pass cop aux mark det case advmod obl cc")
IN_NAMES = ("of", "for", "on")  # Treaty of Amity and Trade, Board on Trade and Industry
OF_NOUNS = {"acl": "appos", "advcl": "obl", "mark": "case"}  # labels, by those of verbs
LONG_NUMBER = re.compile(r"(?<!\w)\+?\d{1,4}(?:[ -]\d{2,8}){2,4}(?!\w)")
NUMBERED_THING = re.compile(r"\b(?:port|version|room|extension|level|phase|page) \d[\d.]*\b")
NUMBERED_NAME = re.compile(r"(?<![\w.,$€£-])\d{1,4}(?:[A-Z]{1,4}|[a-z]{4,})(?![\w-])")
CURRENCIES = "|".join(sorted({*CURRENCY_SIGNS.values(), *YEN_OR_YUAN.values()}))
SPELLED = re.compile(
    rf"(?=[A-Z]\w+[ -][A-Z])\b(?i:(?:{SMALL})(?:[ -](?:and )?(?:{SMALL}|{SCALE}))+)"
    r" (?:[A-Z][\w.]+ )?(?:[Dd]ollars|[Ee]uros|[Pp]ounds)\b"
)
PIECED_AMOUNT = re.compile(
    r"\b(?:\d+|one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve) and (?:a|one|three) "
    r"(?:half|quarters?|thirds?) [a-z]+\b"
    r"|(?<![\w.,])\d[\d.,]* ?[×x] ?10 ?\^ ?[-−–]?\d+(?: [a-zA-Z]{1,3}\b(?<! in| at| of| on| to))?"
    r"|(?<![\w.,])\d[\d.,]* (?:sq|cu)\.? [a-z]+\b"
    rf"|\b(?:{CURRENCIES}) \d[\d.,]*(?<=\d)(?: (?:thousand|million|billion)\b)?"
)


def repair(tree: Tree) -> None:
    """Correct clear errors: words and names in pieces, verbs in names, dates attached to nouns."""
    tree.units = _listed_names(tree)
    for first, last in sorted({*_units(tree), *tree.units}):
        _join(tree, first, last)
    for mend in MENDS:
        mend(tree)
    for token, label in enumerate(tree.dep):
        if label == "nmod" and tree.pos[tree.head[token]] == "VERB" and tree.head[token] < token:
            tree.dep[token] = label = "obl"  # a verb has obliques, not nominal modifiers
        if label in ("nmod", "nmod:unmarked") and is_date(tree, token):
            verb = _verb_above(tree, tree.head[token])
            if verb is not None:
                tree.head[token], tree.dep[token] = verb, "obl"
    tree.index()


def _raise_from_parts(tree: Tree) -> None:
    """Attach to a noun what the parser attached to its modifier: "is an [analytics] platform"."""
    for part, label in enumerate(tree.dep):
        noun = tree.head[part]
        if noun <= part or label not in PARTS:
            continue
        borne = CLAUSE_BEARING if tree.child(part, "cop") is not None else BEARING
        moved = [c for c in tree.children[part] if c < part and tree.dep[c] in borne]
        for child in moved:
            tree.head[child] = noun
        if moved:
            tree.index()


def _units(tree: Tree) -> Iterator[tuple[int, int]]:
    """Yield the token ranges of hyphenated words, dates, telephone numbers and names like "3M".

    Amounts are among them: "two and a half hours", "2×10^3 kg", "USD 12,500", "Ten Million Euros".
    """
    end = 0
    for token in range(1, len(tree.words) - 1):
        if token >= end and tree.words[token] in HYPHENS and tree.touches(token):
            end = token + 2
            while end + 1 < len(tree.words) and tree.words[end] in HYPHENS and tree.touches(end):
                end += 2
            yield token - 1, end
    forms = [SPELLED, PIECED_AMOUNT, LONG_NUMBER, NUMBERED_THING, NUMBERED_NAME]
    forms = forms if any(map(str.isdigit, tree.text)) else forms[:2]
    spans = [match.span() for form in forms for match in form.finditer(tree.text)]
    if forms[2:]:
        spans += [(a, b) for a, b, value in find_values(tree.text, "en") if value.is_point]
    for start, stop in spans:
        first, last = bisect_left(tree.start, start), bisect_right(tree.end, stop)
        if last - first > 1 and tree.start[first] == start:
            if SPELLED.fullmatch(tree.text, start, stop):  # the parser made verbs of Hundred
                tree.pos[first:last] = ["NUM"] * (last - first)
                tree.tag[first:last] = ["CD"] * (last - first)
            yield first, last


def _listed_names(tree: Tree) -> list[tuple[int, int]]:
    """Return the names with a list after "of": "Treaty of Amity, Trade and Navigation".

    Only dictionary words continue a name: "the King of Norway and Denmark" contains two.
    """
    names = []
    for start, end in tree.sentences:
        for token in range(start + 1, end - 3):
            last = _listed_end(tree, token + 1, end) if tree.lower[token] in IN_NAMES else 0
            first = token
            while last and first > start and _is_titled_word(tree, first - 1):
                first -= 1
                if first > start + 1 and tree.lower[first - 1] == "of":  # Secretary of State for
                    first -= _is_titled_word(tree, first - 2)
            if last and first < token:
                names.append((first, last))
    return names


def _listed_end(tree: Tree, place: int, end: int) -> int:
    """Return where a list of capitalised dictionary words ends, 0 if none begins here."""
    closed = False
    while place < end and _is_titled_word(tree, place):
        while place < end and _is_titled_word(tree, place):
            place += 1
        if closed:
            person = any(a == place and label == "PERSON" for a, _, label in tree.names)
            goes_on = tree.lower[place] == "of" or (tree.words[place].istitle() and not person)
            return 0 if goes_on else place
        joint = tree.lower[place : place + 2]
        closed = "and" in joint
        if joint[:1] not in ([","], ["and"]):
            return 0
        place += 2 if joint == [",", "and"] else 1
    return 0


def _is_titled_word(tree: Tree, token: int) -> bool:
    return tree.words[token].istitle() and tree.tag[token] != "DT" and is_word(tree.lower[token])


def _join(tree: Tree, first: int, last: int) -> None:
    """Make tokens one phrase, headed by its top token or the last part of a hyphenated word."""
    inside = range(first, last)
    hyphened = tree.words[first + 1] in HYPHENS
    top = min(inside, key=lambda token: (tree.depth(token), tree.dep[token] in FUNCTIONS))
    head = last - 1 if hyphened else top
    if head != top:
        # The top's governor is a descendant of no token in the phrase, so no cycle arises. The
        # head takes the top's place, or a verb between them does: "7-Eleven operates".
        raised = head
        while tree.head[raised] not in inside and tree.head[raised] != raised:
            raised = tree.head[raised]
        if tree.head[raised] not in inside:
            raised = head
        tree.head[raised] = raised if tree.head[top] == top else tree.head[top]
        tree.dep[raised] = tree.dep[top]
    for token in inside:
        if token != head:
            for child in tree.children[token]:
                if child not in inside and tree.head[child] == token:
                    tree.head[child] = head
            tree.head[token], tree.dep[token] = head, "compound" if hyphened else "flat"
    if hyphened and tree.pos[head] == "VERB":
        _write_as_one(tree, first, head)
    tree.index()


def _write_as_one(tree: Tree, first: int, verb: int) -> None:
    """Write the parts of "re-established" into the verb's token, as relations use its word."""
    tree.words[verb] = tree.join([*range(first, verb + 1)])
    tree.lower[verb] = tree.words[verb].lower()
    tree.start[verb] = tree.start[first]
    for part in range(first, verb):
        tree.words[part] = tree.lower[part] = ""


def _free_verbs(tree: Tree) -> None:
    """Make predicates of "defaults to" and of finite verbs that were parsed as parts of names."""
    for verb in range(1, len(tree.words) - 1):
        default = tree.lower[verb] == "defaults" and tree.lower[verb + 1] == "to"
        hidden = tree.tag[verb] == "VBZ" and (
            tree.dep[verb] in ("flat", "compound")
            or (tree.dep[verb] == "ROOT" and tree.child(verb, "nsubj", "expl", "csubj") is None)
        )
        if not (default and tree.pos[verb] != "VERB") and not hidden:
            continue
        left = [c for c in tree.children[verb] if c < verb and tree.dep[c] in ("compound", "nmod")]
        noun = left[-1] if left else tree.head[verb]
        if noun >= verb or tree.pos[noun] not in ("NOUN", "PROPN"):
            continue
        if not left:
            tree.head[verb] = verb if tree.head[noun] == noun else tree.head[noun]
            tree.dep[verb] = tree.dep[noun]
        for child in (*tree.children[verb], *tree.children[noun]):
            if child > verb:
                tree.head[child] = verb
                tree.dep[child] = "obl" if tree.dep[child] == "nmod" else tree.dep[child]
            elif child not in (verb, noun):
                tree.head[child] = noun
        tree.head[noun], tree.dep[noun] = verb, "nsubj"
        tree.pos[verb], tree.tag[verb] = "VERB", "VBZ"
        tree.lemma[verb] = verb_lemma(tree.lower[verb], "VBZ")
        tree.index()


def _join_class_nouns(tree: Tree) -> None:
    """Attach "river" to "Danube" where the parser made both arguments of one verb.

    With a comma between them, the name becomes an apposition of a subject noun.
    """
    for noun in range(len(tree.words) - 1):
        name = noun + 1 + (tree.words[noun + 1] == ",")
        if name >= len(tree.words):
            break
        while tree.dep[name] in ("flat", "compound") and tree.head[name] > name:
            name = tree.head[name]
        twins = tree.head[noun] == tree.head[name] and tree.dep[noun] == tree.dep[name]
        if (
            twins
            and tree.dep[noun] in CLAUSAL
            and tree.pos[noun] == "NOUN"
            and tree.pos[name] == "PROPN"
            and tree.lower[noun] not in CALENDAR_NOUNS
        ):
            if tree.words[noun + 1] != ",":
                for child in tree.children[noun]:
                    tree.head[child] = name
                tree.head[noun], tree.dep[noun] = name, "nmod:desc"
            elif tree.dep[noun] in ("nsubj", "nsubj:pass"):  # not "A, B and C"
                tree.head[name], tree.dep[name] = noun, "appos"
            tree.index()


def _correct_infinitives(tree: Tree) -> None:
    """Make an infinitive of a verb after "to" that looks like a past tense: "hoped to found"."""
    for verb, tag in enumerate(tree.tag):
        marked = tree.child(verb, "mark") == verb - 1 and tree.tag[verb - 1] == "TO"
        if marked and tag in ("VBN", "VBD", "VBP") and is_base_verb(tree.lower[verb]):
            tree.tag[verb], tree.lemma[verb] = "VB", tree.lower[verb]


def _join_titles(tree: Tree) -> None:
    """Make "managing director" one noun where the parser made an action of it and its object."""
    for noun in range(1, len(tree.words)):
        word = noun - 1
        above, label = tree.head[word], tree.dep[word]
        acts = tree.tag[word] == "VBG" and tree.dep[noun] == "obj" and tree.head[noun] == word
        if not acts or tree.tag[noun] != "NN" or tree.lower[noun] not in HOLDERS:
            continue
        for child in tree.children[word]:
            tree.head[child] = above if label == "xcomp" and child > noun else noun
            copula = tree.dep[child] == "aux" and tree.lemma[child] == "be"
            tree.dep[child] = "cop" if copula else OF_NOUNS.get(tree.dep[child], tree.dep[child])
        tree.head[noun] = noun if above == word else above
        tree.dep[noun] = OF_NOUNS.get(label, label)
        tree.head[word], tree.dep[word] = noun, "amod"
        tree.pos[word], tree.tag[word] = "ADJ", "JJ"
        tree.index()


def _join_number_signs(tree: Tree) -> None:
    """Make one phrase of "No. 5", attached to a noun before it, as its "No" denies nothing."""
    for sign, figure in enumerate(tree.words[2:]):
        before, place = tree.pos[sign - 1] if sign else "", sign + 2
        if tree.lower[sign] != "no" or tree.words[sign + 1] != "." or not figure[:1].isdigit():
            continue
        tree.lower[sign], tree.pos[sign] = "no.", "X"
        hang(tree, sign + 1, sign, "punct")
        tree.index()
        _join(tree, sign, place + 1)
        if before in ("NOUN", "PROPN"):
            head = sign if tree.dep[place] == "flat" and tree.head[place] == sign else place
            hang(tree, head, sign - 1, "flat")
            tree.index()


MENDS = (
    _join_number_signs,
    _join_titles,
    _raise_from_parts,
    _free_verbs,
    _join_class_nouns,
    _correct_infinitives,
    *ATTACHMENTS,
)


def is_date(tree: Tree, token: int) -> bool:
    """Return whether a noun with its preposition is a date: "in 1999", "on 3 May"."""
    children = tree.children[token]
    dated = tree.lower[token] in MONTHS or YEAR.fullmatch(tree.words[token]) is not None
    if not dated and not any(tree.lower[c] in MONTHS for c in children):
        return False
    return any(tree.dep[c] == "case" and tree.lower[c] in DATE_MARKS for c in children)


def _verb_above(tree: Tree, noun: int) -> int | None:
    """Return the predicate whose argument a noun is, directly or as part of another noun."""
    for _ in range(3):
        head = tree.head[noun]
        if tree.dep[noun] in ARGUMENTS:
            return head if tree.pos[head] == "VERB" and head < noun else None
        if tree.child(noun, "cop") is not None:
            return noun
        if tree.dep[noun] not in ("nmod", "conj"):
            return None
        noun = head
    return None
