"""Names in a passage: recognised entities, runs of capitalised words, and the title."""

import re

from tasks.extract.rules.kinds import KIND_OF_LABEL, kind_of_noun
from tasks.extract.rules.lexicon import CLASSES, GROUPS, LINKS, OFFICES, OPENERS, POSTS, RANKS
from tasks.extract.rules.passage import NameSpan
from tasks.extract.rules.repairs import CALENDAR, NUMBERED_NAME
from tasks.extract.rules.tree import Tree
from tasks.text.english_words import is_word, noun_lemma
from tasks.text.languages import word_set
from tasks.text.names import is_pronoun, normalise_name, strip_titles
from tasks.text.values import parse_value

NO_NAME_START = word_set("the a an 's and of • neither")
NO_NAME_END = word_set("'s and of , . ' the - &")
# Of the legal forms those that are nothing else; Company and Group may be words or names.
FORMS = word_set("inc ltd llc corp")
NO_NAMES = FORMS | word_set("jr sr etc vs eg ie esq nos whereas therefore whereof witnesseth")
PARTS = word_set("section chapter part article rule clause appendix exhibit schedule annex table")
ROMAN = re.compile("[IVX]+")
DEGREES = word_set("ba bs bsc bfa ma ms msc mba mfa mpa mph phd dphil md jd llb llm edd")
LONGEST_NAME = 12
PRIZES = word_set("prize prizes award medal")
JOINTS = ("-", "‐", "‑", "–", "/", "&", "_")
QUOTATION = re.compile(r"[\"“”]([^\"“”\n.!?]{3,80})[\"“”]")
SMALL_WORDS = word_set("a an and or to in on at for with from by as is")
VERSION = re.compile(r"\d{1,3}(?:\.\d+)*")
QUARTER = re.compile("[QH][1-4]")
NUMBER = re.compile(r"\d{1,6}(?:\.\d+)*")
TITLE_NOTE = re.compile(r"\s*\([^()]*\)$")
# Notation of code, addresses and files only: a::b, f(), snake_case, main.rs, https.
CODE = re.compile(
    r"::|->|=>|\(\)|[<>{}\[\]=$@\\|^~;]|\w_\w|^[._#%+*]|://|\bhttps?\b|^www\."
    r"|^[a-z]{2,}[A-Z][a-z]\w*$"
    r"|^\S*\.(?:md|rs|go|py|ts|toml|ya?ml|json|html?|css|txt|pdf|sh|cpp|[ch]|java|xml|csv|png|jpe?g"
    r"|svg|sql|log|cfg|ini|lock|exe|so|docx?|xlsx?)$"
)
BRAND = re.compile(r"[a-z]{1,5}[A-Z]{2}\w*|[a-z][A-Z][a-z]\w+")  # openSUSE, macOS, eBay
QUALITY = re.compile(r"-([a-z]+)$")
STATES = (["state", "'s"], ["state", "’s"])  # "State's Attorney"
LETTERS = re.compile(r"[^\W\d_]")
FRAGMENT = 0.7  # share of capitalised words from which a line is in title case


def find_names(tree: Tree, title: str) -> list[NameSpan]:
    """Return the names in order, without overlaps; a longer name wins over those inside it."""
    spans = [
        (*_capitalised_part(tree, first, last), KIND_OF_LABEL.get(label, "unknown"))
        for first, last, label in tree.names
    ]
    spans += [(first, last, "unknown") for first, last in _capitalised_runs(tree)]
    offices = _titles(tree)
    spans = [_without_post(tree, *part) for span in spans for part in _parted(tree, offices, *span)]
    titles = _title_spans(tree, title)
    spans += [(*span, "unknown") for span in [*titles, *_numbered_names(tree)]]
    spans += [(token, token + 1, "person") for token in _lone_surnames(tree)]
    spans += [(first, last, "work") for first, last in _quoted_titles(tree)]
    names: list[NameSpan] = []
    taken = [False] * len(tree.words)
    spans = [s for s in spans if not any(a <= s[0] and s[1] <= b for a, b in tree.units)]
    spans = [(first, last, "unknown") for first, last in tree.units] + _merge(tree, spans)
    for first, last, kind in sorted(spans, key=lambda s: (s[0] - s[1], s[0])):
        first, last = _whole_words(tree, *_trim(tree, first, last))
        if first >= last or any(taken[first:last]) or not _is_name(tree, first, last):
            continue
        taken[first:last] = [True] * (last - first)
        start, end = tree.start[first], tree.end[last - 1]
        name = " ".join(tree.text[start:end].split())
        tells = (first, last) in titles or _capital_tells(tree, first, last)
        names.append(NameSpan(first, last, name, kind, start, end, tells))
    lower = {word for word in tree.words if word.islower()}
    names = [n for n in names if n.capital_tells or tree.lower[n.first] not in lower]
    names.sort(key=lambda name: name.start)
    return names


def _merge(tree: Tree, spans: list[tuple[int, int, str]]) -> list[tuple[int, int, str]]:
    """Add capitalised runs with the kind of the recognised name at their end; sort the spans."""
    merged = list(spans)
    for first, last, kind in spans:
        if kind != "unknown":
            continue
        foreign = ("unknown", "person", "place") if "&" in tree.words[first:last] else ("unknown",)
        inner = [s for s in spans if s[2] not in foreign and first <= s[0] and s[1] <= last]
        outer = [
            (a, b, kind)
            for a, b, kind in inner
            if not any((a, b) != (c, d) and c <= a and b <= d for c, d, _ in inner)
        ]
        if len(outer) == 1 and (outer[0][1] == last or tree.lower[outer[0][1]] in LINKS):
            merged.append((first, last, outer[0][2]))
    # Of equal spans, those with a kind come first, in the order in which they were found.
    return sorted(dict.fromkeys(merged), key=lambda s: (s[0], s[1], s[2] == "unknown"))


def _capitalised_runs(tree: Tree) -> list[tuple[int, int]]:
    """Return runs of proper nouns and capitalised words, with the small words between them."""
    runs: list[tuple[int, int]] = []
    for start, end in tree.sentences:
        token = start
        while token < end:
            last = _run_end(tree, token, end) if _opens_run(tree, token, start) else 0
            runs += [(token, last)] if last else []
            token = last or token + 1
    return runs


def _opens_run(tree: Tree, token: int, sentence: int) -> bool:
    if not _is_capitalised(tree.words[token]) or tree.lower[token] in LINKS:
        return False
    if token == sentence and tree.pos[token] != "PROPN":
        return _is_bare_subject(tree, token)
    return tree.pos[token] in ("PROPN", "NOUN", "ADJ")


def _is_capitalised(word: str) -> bool:
    return word[:1].isupper() or BRAND.fullmatch(word) is not None


def _is_bare_subject(tree: Tree, token: int) -> bool:
    """Return whether a sentence opens with a singular subject without article: mostly a name.

    The capital at the start of a sentence is no evidence, and taggers err on rare names.
    """
    labels = {tree.dep[child] for child in tree.children[token]}
    return (
        tree.dep[token] in ("nsubj", "nsubj:pass")
        and tree.tag[token] in ("NN", "JJ", "VB", "VBN", "VBD", "FW")
        and labels <= {"compound", "flat", "punct", "appos", "acl:relcl", "conj", "cc"}
    )


def _run_end(tree: Tree, token: int, end: int) -> int:
    last = token + 1
    while last < end:
        if tree.lower[last - 1] == "no." and last - 1 > token:
            return last + 2  # "Lodge No. 5"
        if _continues(tree, last):
            last += 1
            continue
        if last + 1 < end and _continues(tree, last + 1):
            joined = _joins_names(tree, token, last) or _joins_words(tree, last)
            if joined or _joins_body(tree, last) or _is_named_after(tree, token, last):
                last += 2  # "Dorvan & Gamble", "Winter-Moore Observatory", "King's Cross"
                continue
        if tree.words[last] == "," and _is_legal_form(tree, last + 1):
            last += 2  # "Eco Works, Inc."
            break
        ahead = last
        joins = LINKS | {"and"} if _is_office(tree, token, last) else LINKS
        if tree.lower[last - 1] in PRIZES:  # "Orr Prize in Chemistry"
            joins = joins | {"in", "for"}
        while ahead < end and ahead - last < 2 and tree.lower[ahead] in joins:
            ahead += 1
        if ahead == last or ahead >= end or not _continues(tree, ahead):
            break
        if tree.lower[last] == "of" and tree.words[last - 1].isupper():
            break  # the API of Kubernetes
        last = ahead + 1
    return last


def _joins_names(tree: Tree, first: int, token: int) -> bool:
    """Return whether an "&" belongs to a name, and is no "and" between two names that are whole.

    Such are persons with two names, places, and companies with their legal forms.
    """
    if tree.words[token] != "&" or _is_legal_form(tree, token - 1):
        return False
    beside = [(a, b, label) for a, b, label in tree.names if b == token or a == token + 1]
    whole = [
        kind == "place" or (kind == "person" and b - a > 1)
        for a, b, label in beside
        if (kind := KIND_OF_LABEL.get(label)) and a >= first
    ]
    return whole != [True, True]


def _is_named_after(tree: Tree, first: int, genitive: int) -> bool:
    """Return whether a genitive is part of a name, whose owner has none: a rank, office or group.

    A rank is an owner if it also stands alone, as somebody's surname does, or a person follows; an
    office is one unless the office of a body follows.
    """
    owner, after = genitive - 1, genitive + 1
    if tree.tag[genitive] != "POS" or tree.lower[owner] in GROUPS:
        return tree.tag[genitive] == "POS"
    if tree.lower[owner : owner + 2] in STATES:
        return _kind_of_word(tree, after) == "person"
    if tree.lower[owner] not in RANKS:
        office = _kind_of_word(tree, owner) == "person" and _is_body(tree, after)
        return office and all(last != genitive for _, last in _persons(tree))
    alone = any(
        word == tree.words[owner] and not _is_capitalised(after) and tag != "POS"
        for word, after, tag in zip(tree.words, tree.words[1:], tree.tag[1:], strict=False)
    )
    behind = any(a == after and b - a > 1 for a, b in _persons(tree))
    return first == owner and not alone and not behind


def _persons(tree: Tree) -> list[tuple[int, int]]:
    return [(a, b) for a, b, label in tree.names if KIND_OF_LABEL.get(label) == "person"]


def _kind_of_word(tree: Tree, token: int) -> str:
    """Return the kind of what a noun means, a person for an office: "Mayor", "Attorneys"."""
    noun = noun_lemma(tree.lower[token])
    return "person" if noun in OFFICES | POSTS else kind_of_noun(noun)


def _is_body(tree: Tree, token: int) -> bool:
    """Return whether the capitalised words from a token on end like a body: "Fire Department"."""
    last = next((t for t in range(token, len(tree.words)) if not _continues(tree, t)), token)
    return last > token and _kind_of_word(tree, last - 1) == "organisation"


def _joins_body(tree: Tree, token: int) -> bool:
    """Return whether an "and" joins common words before a body: "Timber and Grain Board"."""
    if tree.lower[token] != "and" or any(last == token for _, last, _ in tree.names):
        return False
    beside = (token - 1, token + 1)
    common = all(_kind_of_word(tree, t) in ("unknown", "thing") for t in beside)
    return common and all(is_word(tree.lower[t]) for t in beside) and _is_body(tree, token + 1)


def _is_legal_form(tree: Tree, token: int) -> bool:
    return token < len(tree.words) and tree.lower[token].strip(".") in FORMS


def _is_office(tree: Tree, first: int, last: int) -> bool:
    """Return whether a run begins like "Office of ..." or "Institute for ...".

    An "and" after these belongs to the name.
    """
    words = tree.lower[first:last]
    return not {"of", "for"}.isdisjoint(words) and "organisation" in map(kind_of_noun, words[:4])


def _quoted_titles(tree: Tree) -> list[tuple[int, int]]:
    """Return quotations of two or more words that are capitalised like the title of a work."""
    quotations = ((match.span(1), match[1].split()) for match in QUOTATION.finditer(tree.text))
    return tree.tokens_of(s for s, words in quotations if words[1:] and is_written_as_title(words))


def is_written_as_title(words: list[str]) -> bool:
    """Return whether all words but small ones are capitalised."""
    capitals = all(w[:1].isupper() or w.lower() in LINKS | SMALL_WORDS for w in words)
    return capitals and words[0][:1].isupper()


def _lone_surnames(tree: Tree) -> list[int]:
    """Return tokens that equal the last word of a person's full name."""
    last_words = {tree.words[last - 1] for first, last in _persons(tree) if last - first > 1}
    return [token for token, word in enumerate(tree.words) if word in last_words]


def _numbered_names(tree: Tree) -> list[tuple[int, int]]:
    """Return names like "3M" and "37signals" that are a subject or possessor somewhere."""
    spans = tree.tokens_of(match.span() for match in NUMBERED_NAME.finditer(tree.text))
    labels = ("nsubj", "nsubj:pass", "nmod:poss")
    subjects = {tree.join([*range(a, b)]) for a, b in spans if tree.dep[b - 1] in labels}
    return [(a, b) for a, b in spans if tree.join([*range(a, b)]) in subjects]


def _continues(tree: Tree, token: int) -> bool:
    word = tree.words[token]
    if _is_capitalised(word):
        return tree.pos[token] in ("PROPN", "NOUN", "ADJ", "NUM", "X", "ADP", "DET", "VERB")
    # "Redis 7.2", but not "Apple 3.5 %"; "QXC 48213", where the number depends on the name.
    counted = tree.pos[token + 1 : token + 2] in (["NOUN"], ["SYM"], ["NUM"])
    hangs = tree.dep[token] == "flat" and tree.lower[token - 1].strip(".") not in CALENDAR
    number = NUMBER if hangs else VERSION
    return tree.pos[token] == "NUM" and number.fullmatch(word) is not None and not counted


def _title_spans(tree: Tree, title: str) -> list[tuple[int, int]]:
    """Return where the title occurs, with or without its note in parentheses.

    Titles capitalise words that sentences do not, so only the first letter's case must match.
    """
    spans = [
        (match.start(), match.start() + len(words))
        for words in {title, TITLE_NOTE.sub("", title)} - {""}
        for match in re.finditer(f"(?={re.escape(words[0])}(?i:{re.escape(words[1:])}))", tree.text)
    ]
    return tree.tokens_of(spans)


def _trim(tree: Tree, first: int, last: int) -> tuple[int, int]:
    while first < last and (
        tree.lower[first] in NO_NAME_START
        or tree.pos[first] == "PUNCT"
        or (last - first > 1 and _only_opens(tree, first))
    ):
        first += 1
    while last > first and (tree.lower[last - 1] in NO_NAME_END or tree.pos[last - 1] == "PUNCT"):
        last -= 1
    return first, last


def _titles(tree: Tree) -> set[int]:
    """Return the tokens of titles before persons: "Gov." and the last of "Norwich Police Officer".

    Forms of address stay with a name, unless words before them say of what.
    """
    titles: set[int] = set()
    for person, last in _persons(tree):
        title = person - 1
        held, full = _kind_of_word(tree, title) == "person", last - person > 1
        describes = tree.dep[title] == "nmod:desc" or (held and tree.head[person] == title)
        if strip_titles(f"{tree.words[title]} X") == "X":
            named = full and tree.pos[title - 1] in ("PROPN", "PART")
        else:
            named = (full or held) and _is_capitalised(tree.words[title])
        if tree.lower[title] in OFFICES or (describes and named):
            titles.update(range(title - 2 * (tree.lower[title - 2 : title] in STATES), person))
    return titles


def _parted(
    tree: Tree, titles: set[int], first: int, last: int, kind: str
) -> list[tuple[int, int, str]]:
    """Return the names before and after a title: "Idaho" and "Cecil Andrus" around "Gov."."""
    inside = titles.intersection(range(first, last))
    if not inside:
        return [(first, last, kind)]
    title = min(inside)
    # Acme CEO, but not Fire Chief
    named = tree.lower[title] in OFFICES or not all(map(is_word, tree.lower[first:title]))
    return [(first, title, kind)] * named + [(max(inside) + 1, last, "unknown")]


def _without_post(tree: Tree, first: int, last: int, kind: str) -> tuple[int, int, str]:
    """Return the body that a post belongs to: "Steering Group" of "Chair of the Steering Group".

    "Secretary of State", whose last words are no name by themselves, stays whole, and so do spans
    that end with a person. "Chief of Mission of the Embassy" names the embassy.
    """
    links = [t for t in range(first + 1, last - 1) if tree.lower[t] == "of"]
    posts = tree.words[first : links[0]] if links else []
    if not posts or posts[-1].lower().rpartition("-")[2] not in OFFICES | POSTS:
        return first, last, kind
    person = any(first <= a and b == last for a, b in _persons(tree))
    if person or not all(is_word(word.lower()) or len(word) < 3 for word in posts[:-1]):
        return first, last, kind
    for link, end in zip(links, [*links[1:], last], strict=True):
        article = tree.lower[link + 1] == "the"
        words = tree.lower[link + 1 + article : end] or ["the"]
        body = kind_of_noun(words[-1]) == "organisation" or not is_word(words[0])
        if body or (article and len(words) > 1):
            return end - len(words), last, "unknown"
    return first, last, kind


def _whole_words(tree: Tree, first: int, last: int) -> tuple[int, int]:
    """Widen a name to the words that hyphens, slashes and the like join to it."""
    if first >= last:
        return first, last
    while first > 1 and _joins_words(tree, first - 1):
        first -= 2
    while last + 1 < len(tree.words) and _joins_words(tree, last):
        last += 2
    return first, last


def _joins_words(tree: Tree, token: int) -> bool:
    """Return whether a hyphen, slash or the like joins the words on both sides."""
    inside = 0 < token < len(tree.words) - 1
    return inside and tree.words[token] in JOINTS and tree.touches(token)


def _capitalised_part(tree: Tree, first: int, last: int) -> tuple[int, int]:
    """Trim lower-case words that the recogniser included: "configure X", "X dashboard"."""
    while first < last and _is_plain(tree, first):
        first += 1
    while last > first and _is_plain(tree, last - 1) and tree.lower[last - 1] not in CLASSES:
        last -= 1
    return first, last


def _is_plain(tree: Tree, token: int) -> bool:
    return tree.words[token].islower() and is_word(tree.lower[token])


def _only_opens(tree: Tree, token: int) -> bool:
    """Return whether a word is not part of the name after it: "Select X", "In Q4 Amy"."""
    if token and tree.pos[token - 1] == "ADP" and QUARTER.fullmatch(tree.words[token]):
        return True
    return tree.lower[token] in OPENERS and any(token == start for start, _ in tree.sentences)


def _capital_tells(tree: Tree, first: int, last: int) -> bool:
    """Return whether the capitals of a span are evidence of a name, wherever it stands."""
    if not all(tree.words[t].istitle() and is_word(tree.lower[t]) for t in range(first, last)):
        return True
    start, end = next(s for s in tree.sentences if s[0] <= first < s[1])
    if last - first == 1 and first == start:
        return False
    words = [t for t in range(start, end) if LETTERS.match(tree.words[t])]
    capitals = sum(tree.words[t][:1].isupper() for t in words)
    return capitals < FRAGMENT * len(words)


def _is_name(tree: Tree, first: int, last: int) -> bool:
    if last - first > LONGEST_NAME or "\n\n" in tree.text[tree.start[first] : tree.end[last - 1]]:
        return False
    words = tree.text[tree.start[first] : tree.end[last - 1]]
    capital = any(c.isupper() for c in words) or NUMBERED_NAME.fullmatch(words)
    if not capital or not normalise_name(words):
        return False
    alone = tree.pos[first] == "ADJ" or is_pronoun(words, "en") or words.lower() in OFFICES
    is_marked = "." in words or tree.lower[last : last + 1] in (["in"], ["from"], ["degree"])
    degree = is_marked and words.lower().replace(".", "") in DEGREES
    if last - first == 1 and (alone or degree or tree.lower[first].strip(".") in NO_NAMES):
        return False
    letters = len(LETTERS.findall(words))
    if CODE.search(words) or (letters < 2 and not NUMBERED_NAME.fullmatch(words)):
        return False
    if (quality := QUALITY.search(words)) and is_word(quality[1]):
        return False  # Linux-only
    if first and tree.pos[first - 1] == "NUM" and parse_value(f"1 {words}", "en").unit:
        return False  # "25 MB"
    numbered = last - first <= 2 <= last and ROMAN.fullmatch(tree.words[last - 1].rstrip("."))
    part = numbered and noun_lemma(tree.lower[last - 2]) in PARTS
    if part or (last - first > 1 and set(tree.tag[first:last]) == {"CD"}):
        return False  # Articles V, Ten Thousand Dollars
    return not all(
        tree.lower[t].strip(".") in CALENDAR or not LETTERS.search(tree.words[t])
        for t in range(first, last)
    )
