"""The English engine: parses a batch of passages and extracts facts from the trees."""

import re
from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from typing import Any

from tasks.extract.english_pipeline.load import load_english
from tasks.extract.extracted import Extracted, Mention, or_failed
from tasks.extract.ontology_facts import ontology_triples
from tasks.extract.rules.aliases import candidates, labelled_aliases
from tasks.extract.rules.aspects import find_notes
from tasks.extract.rules.attributes import find_attributes, find_life_dates
from tasks.extract.rules.clauses import Clause, find_clauses, has_two_subjects
from tasks.extract.rules.coreference import SpokenOf, opens_with_pronoun, resolve_references
from tasks.extract.rules.descriptions import find_descriptions
from tasks.extract.rules.find_names import find_names
from tasks.extract.rules.kinds import learn_kinds, scores_in_tree
from tasks.extract.rules.layout import Layout, lay_out
from tasks.extract.rules.modality import standing_of
from tasks.extract.rules.noun_phrases import conjuncts
from tasks.extract.rules.noun_triples import of_copula, of_phrases
from tasks.extract.rules.passage import NameSpan, ParsedPassage
from tasks.extract.rules.repairs import repair
from tasks.extract.rules.statements import statement_rows
from tasks.extract.rules.tree import Reduced, Tree, parse, tree_of
from tasks.extract.rules.triple import RuleTriple, head_in, is_whole, triple_row, with_period
from tasks.extract.rules.verb_triples import of_enumeration, of_verb
from tasks.text.english_words import is_word

RESPECTIVE = "respectively"
VERBAL = ("VERB", "AUX")
_WORD = re.compile(r"\w")
_CODE_SPAN = re.compile(r"(`{1,3})[^`\n]{1,300}\1")
PassageRow = dict[str, Any]


def extract_english(rows: list[PassageRow], pipeline: str | None) -> Iterator[Extracted]:
    """Yield the facts of each passage, in order; only its prose is parsed."""
    for row, layout, prose, doc in parsed(rows, pipeline):
        read = partial(_read_passage, row, layout, prose, doc, pipeline)
        yield or_failed(row["passage_id"], read)


def parsed(
    rows: list[PassageRow], pipeline: str | None
) -> Iterator[tuple[PassageRow, Layout, Reduced, Any]]:
    """Yield each passage with its layout, its prose, and the prose's parse, None if it is empty."""
    nlp = load_english(pipeline)
    layouts = [lay_out(row) for row in rows]
    prose = [Reduced(layout.prose.text) for layout in layouts]
    docs = parse(nlp, (text.text for text in prose if text.text.strip()))
    for row, layout, text in zip(rows, layouts, prose, strict=True):
        yield row, layout, text, next(docs) if text.text.strip() else None


def _read_passage(
    row: PassageRow, layout: Layout, prose: Reduced, doc: Any, pipeline: str | None
) -> Extracted:
    extracted = Extracted(row["passage_id"], sentences=layout.prose.whole_sentences("en"))
    if doc is not None:
        _read_prose(extracted, understand(row, tree_of(doc, prose), pipeline))
        extracted.place_in(layout.prose)
        extracted.names = _outside_code(extracted.names, row["text"])
    for attribute in find_attributes(row, layout, "en"):
        if attribute.head != attribute.tail:
            extracted.triples.append(attribute.triple())
        extracted.aliases += labelled_aliases(attribute)
    extracted.suppose(layout.supposed)
    for facts in extracted.facts:
        for ordinal, fact in enumerate(facts):
            fact["ordinal"] = ordinal
    return extracted


def _outside_code(names: list[Mention], text: str) -> list[Mention]:
    """Return the names that do not overlap a code span."""
    code = [match.span() for match in _CODE_SPAN.finditer(text)] if "`" in text else []
    return [n for n in names if not any(a < n["span_end"] and n["span_start"] < b for a, b in code)]


def understand(row: PassageRow, tree: Tree, pipeline: str | None = None) -> ParsedPassage:
    """Return a parsed passage with its names, their kinds and its coreferences."""
    passage = _with_names(row, tree)
    known = bool(row.get("before")) and opens_with_pronoun(passage)
    resolve_references(passage, _spoken_of_before(row, pipeline) if known else None)
    return passage


def _with_names(row: PassageRow, tree: Tree) -> ParsedPassage:
    repair(tree)
    names = _of_headword(row, tree, find_names(tree, row["subject"]))
    passage = ParsedPassage(row, tree, names, row["subject"])
    learn_kinds(passage)
    return passage


def _of_headword(row: PassageRow, tree: Tree, names: list[NameSpan]) -> list[NameSpan]:
    """Return names without the gloss of a dictionary's entry; what describes it is of the headword.

    A gloss opens an entry and no clause: "Rock, a fisherman of Bethsaida" below "Peter".
    """
    gloss = names[0] if names and not names[0].first else None
    if gloss is None or gloss.capital_tells or tree.words[gloss.last : gloss.last + 1] != [","]:
        return names
    word = row.get("headings", "").rsplit(" > ", 1)[-1] or row["title"]
    root = tree.dep.index("ROOT")
    opens_clause = tree.pos[root] in VERBAL or tree.child(root, "cop") is not None
    named_again = any(name.name == gloss.name for name in names[1:])
    if opens_clause or named_again or gloss.name in word or row.get("before"):
        return names
    is_name = word == row["subject"] or (word.isalpha() and not is_word(word.lower()))
    return [replace(gloss, name=word, kind="unknown"), *names[1:]] if is_name else names[1:]


def _spoken_of_before(row: PassageRow, pipeline: str | None) -> SpokenOf | None:
    """Return of whom the text before a passage speaks last, None if it has no prose."""
    context = {**row, "text": row["before"], "blocks": None}
    ((_, _, prose, doc),) = parsed([context], pipeline)
    return None if doc is None else resolve_references(_with_names(context, tree_of(doc, prose)))


def _read_prose(extracted: Extracted, passage: ParsedPassage) -> None:
    """Add all facts of a passage's prose to `extracted`."""
    row, tree = passage.row, passage.tree
    clauses = find_clauses(tree)
    extracted.names = [
        {
            "name": n.name,
            "kind": passage.kind(n.name),
            "kind_stated": n.name in passage.stated_kinds,
            "kind_scores": scores_in_tree(tree, n),
            "capital_tells": n.capital_tells,
            "span_start": n.start,
            "span_end": n.end,
        }
        for n in passage.names
        if n.name == " ".join(tree.text[n.start : n.end].split())  # none is of a gloss
    ]
    triples: dict[tuple[str, str, str], Mention] = {}
    for triple in [
        *(triple_row(passage, triple) for triple in find_triples(passage, clauses)),
        *(date.triple() for date in find_life_dates(passage)),
        *(ontology_triples(passage, clauses, row["ontology"]) if row.get("ontology") else []),
    ]:
        ends = triple["head"], triple["tail"]
        if ends[0] != ends[1] and all(map(_WORD.search, ends)):
            triples.setdefault((*ends, triple["relation"]), triple)
    extracted.triples = list(triples.values())
    extracted.descriptions = find_descriptions(passage, clauses)
    described = {row["text"] for row in extracted.descriptions}
    extracted.aspects = find_notes(passage, clauses, described)
    extracted.aliases = [alias for alias, _ in candidates(passage)]
    extracted.statements = statement_rows(passage, clauses)


def find_triples(passage: ParsedPassage, clauses: list[Clause]) -> Iterator[RuleTriple]:
    """Yield the triples of a passage: from each clause, then from noun phrases."""
    for clause in clauses:
        if standing_of(passage, clause).stated and not has_two_subjects(passage.tree, clause):
            triples = (t for t in _of_clause(passage, clause) if is_whole(passage, t))
            yield from with_period(passage, clause, list(triples))
    for triple in of_phrases(passage):
        if standing_of(passage, triple.clause).stated and is_whole(passage, triple):
            yield triple


def _of_clause(passage: ParsedPassage, clause: Clause) -> Iterator[RuleTriple]:
    subjects = conjuncts(passage.tree, clause.subject)
    if len(subjects) > 1 and _is_respective(passage.tree, clause):
        return  # each subject has its own object
    for subject in subjects:
        yield from _of_subject(passage, clause, subject)


def _is_respective(tree: Tree, clause: Clause) -> bool:
    """Return whether "respectively" stands right before a clause's verb, or is the next after it.

    The parser often attaches it to another verb.
    """
    verbs = [t for t, pos in enumerate(tree.pos) if pos in VERBAL and tree.dep[t] != "amod"]
    places = [t for t, word in enumerate(tree.lower) if word == RESPECTIVE]
    nearest = {max((v for v in verbs if v <= place + 1), default=-1) for place in places}
    return not nearest.isdisjoint({clause.predicate, *clause.verb})


def _of_subject(passage: ParsedPassage, clause: Clause, subject: int) -> Iterator[RuleTriple]:
    tree = passage.tree
    if clause.subject < clause.predicate < subject:
        return  # "X, which consists of A, B and C": the parser attached C to X
    if clause.subject_from == "own" and tree.child(subject, "cop") is not None:
        return  # "X was a senator and Y was a governor": the subject is no senator
    if clause.kind == "copula":
        yield from of_copula(passage, clause, subject)
    elif clause.kind == "verb":
        yield from of_enumeration(passage, clause, subject)
        head = head_in(passage, clause, subject)
        if head is not None:
            yield from of_verb(passage, clause, head)
