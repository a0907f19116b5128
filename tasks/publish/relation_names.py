"""Decide the name under which each stated relation is stored, and its direction.

Wordings of the same form (`tasks.text.relations.forms`) are one relation. The vocabulary names
common relations; any other keeps the name that an earlier edition gave it, else its commonest
wording becomes its name. People's corrections are applied last.

What a language model writes is a name already, such as "first office" or "meaning of name": it
stays unless the vocabulary or the ontology has it word for word, as its form lacks words that
matter. So do labels of one table that would have one name.
"""

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import pyarrow as pa

from schemas.observations import RelationName
from schemas.ontology import Ontology
from tasks.text.english_words import verb_forms
from tasks.text.languages import is_chinese
from tasks.text.relations.forms import Form, bare_words, form_of
from tasks.text.relations.vocabulary import (
    End,
    Meaning,
    depends_on_kinds,
    exact_meaning,
    known_relations,
    meaning_of,
    meanings_alone,
    plain_wording,
    same_verb,
    vocabulary_version,
)

_STATED = ("wording", "tail_end", "head_sort", "tail_sort", "by_model")
_FLAGS = ("by_model", "turned", "symmetric")
NAMES = pa.schema(
    (column, pa.bool_() if column in _FLAGS else pa.string())
    for column in (*_STATED, "relation", "turned", "symmetric", "inverse")
)
Use = tuple[str, End]  # a wording, and whether its tails are things, times or measures


@dataclass(slots=True)
class _Group:
    """The wordings of one form, with their triples.

    The group is `flipped` if its unturned wordings state the relation from tail to head.
    """

    form: Form
    end: End
    wordings: Counter[str] = field(default_factory=Counter)
    name: str = ""
    flipped: bool = False

    def commonest(self) -> list[str]:
        """Return the wordings, the commonest first."""
        return [w for w, _ in sorted(self.wordings.items(), key=lambda pair: (-pair[1], pair[0]))]

    def turned(self, wording: str) -> bool:
        """Return whether a wording states the relation from tail to head."""
        return form_of(wording).turned != self.flipped


def name_relations(
    stated: pa.Table,
    known: pa.Table,
    overrides: pa.Table,
    ontology: Ontology,
    labels_beside: Iterable[Iterable[Use]] = (),
) -> pa.Table:
    """Return the name of every stated relation.

    `stated` has columns wording, tail_end, head_sort, tail_sort, by_model and triples. `known` are
    the names from earlier editions (RelationName), the newest last. `labels_beside` has lists of
    labels, as pairs of wording and tail_end, each of one table or passage.
    """
    rows = stated.to_pylist()
    own = _of_ontology(ontology)
    groups, earlier = _groups(row for row in rows if not row["by_model"]), _newest(known)
    for group in groups:
        _recognise(group, earlier, own)
    meanings = {use: _translated(meaning, own) for use, meaning in _by_use(groups).items()}
    _correct(meanings, overrides)
    corrections = _corrections_word_for_word(overrides)
    names = _told_apart(labels_beside, meanings)
    meant = [
        _of_name(row, ontology, own, corrections)
        if row["by_model"] or (row["wording"], row["tail_end"]) in names
        else meanings[row["wording"], row["tail_end"]]
        for row in rows
    ]
    inverses = _inverses(rows, meant)
    inverses.update({n: r.inverse for n, r in ontology.relations.items() if r.inverse})
    named = known_relations()
    chinese = _in_chinese(rows, meant, {row["relation"] for row in earlier.values()})
    made = []
    for row, meaning in zip(rows, meant, strict=True):
        wording, end = row["wording"], row["tail_end"]
        if not row["by_model"] and (wording, end) not in names and depends_on_kinds(wording):
            by_kinds = meaning_of(wording, end, row["head_sort"], row["tail_sort"])
            meaning = _translated(by_kinds, own) if by_kinds else meaning
        entry = named.get(meaning.name)
        inverse = inverses.get(meaning.name)
        name = meaning.name
        if entry and entry.chinese and name in chinese:
            inverse = entry.chinese if entry.symmetric else entry.chinese_inverse
            name = entry.chinese
        made.append(
            {
                **{column: row[column] for column in _STATED},
                "relation": name,
                "turned": meaning.turned,
                "symmetric": bool(entry and entry.symmetric),
                "inverse": inverse,
            }
        )
    return pa.Table.from_pylist(made, schema=NAMES)


def new_names(names: pa.Table, known: pa.Table, edition: str) -> pa.Table:
    """Return the names to be journalled: those that differ from the known ones."""
    earlier = {use: (row["relation"], row["turned"]) for use, row in _newest(known).items()}
    rows = sorted(names.to_pylist(), key=lambda row: not row["by_model"])  # the rules' come last
    meanings = {(r["wording"], r["tail_end"]): (r["relation"], r["turned"]) for r in rows}
    stamp = {"vocabulary": vocabulary_version(), "edition": edition}
    made = [
        {"wording": wording, "tail": end, "relation": relation, "turned": turned, **stamp}
        for (wording, end), (relation, turned) in meanings.items()
        if earlier.get((wording, end)) != (relation, turned) and not depends_on_kinds(wording)
    ]
    return RelationName.to_table(made)


def _newest(known: pa.Table) -> dict[Use, dict[str, Any]]:
    return {(row["wording"], row["tail"]): row for row in known.to_pylist()}


def _of_ontology(ontology: Ontology) -> dict[tuple[Any, ...], Meaning]:
    """Return the ontology's relations, with their direction, by the forms of their wordings.

    A relation of the vocabulary with the same meaning gets the ontology's name: a text's "filmed
    by" is a "director", if that is what the ontology calls it.
    """
    meanings: dict[tuple[Any, ...], Meaning] = {}
    for wording, (name, turned) in ontology.by_wording.items():
        form = form_of(wording)
        meanings.setdefault((form.undirected, form.modifiers), Meaning(name, form.turned != turned))
    for wording, (name, turned) in ontology.by_wording.items():
        for known in meanings_alone(wording):
            form = form_of(known.name)
            is_turned = (form.turned != known.turned) != turned
            meanings.setdefault((form.undirected, form.modifiers), Meaning(name, is_turned))
    return meanings


def _listed(own: dict[tuple[Any, ...], Meaning], form: Form) -> Meaning | None:
    """Return the ontology's relation for a form, else for the form without its modifiers."""
    return own.get((form.undirected, form.modifiers)) or own.get((form.undirected, ()))


def _translated(meaning: Meaning, own: dict[tuple[Any, ...], Meaning]) -> Meaning:
    """Return a meaning under the ontology's name for its relation, if it has one."""
    form = form_of(meaning.name)
    relation = _listed(own, form)
    if relation is None:
        return meaning
    return Meaning(relation.name, meaning.turned != (form.turned != relation.turned))


def _told_apart(
    labels_beside: Iterable[Iterable[Use]], meanings: Mapping[Use, Meaning]
) -> set[Use]:
    """Return the labels that mean the same as another beside them, so each is a name itself.

    Columns differ in what their forms lack: "2018 view" and "2023 view" are two relations.
    """
    apart: set[Use] = set()
    for labels in labels_beside:
        alike: dict[Meaning, list[Use]] = defaultdict(list)
        for wording, end in labels:
            alike[meanings[wording, end]].append((wording, end))
        for uses in alike.values():
            if len({plain_wording(wording).casefold() for wording, _ in uses}) > 1:
                apart.update(uses)
    return apart


def _of_name(
    row: dict[str, Any],
    ontology: Ontology,
    own: dict[tuple[Any, ...], Meaning],
    corrections: dict[str, Meaning],
) -> Meaning:
    """Return the meaning of a wording that is a name: its own words, unless they are listed."""
    wording = plain_wording(row["wording"])
    words = wording.casefold()
    if words in corrections:
        return corrections[words]
    if words in ontology.by_wording:
        return Meaning(*ontology.by_wording[words])
    meaning = exact_meaning(wording, row["tail_end"], row["head_sort"], row["tail_sort"])
    return _translated(meaning, own) if meaning else Meaning(wording, False)


def _groups(rows: Iterable[dict[str, Any]]) -> list[_Group]:
    """Return the stated wordings grouped by form; equivalent verbs share a group."""
    groups: dict[tuple[Any, ...], _Group] = {}
    for row in rows:
        form, end = form_of(row["wording"]), row["tail_end"]
        words = bare_words(form) if end == "time" else form.words
        if form.kind == "verb":
            verb, *rest = words.split()
            words = " ".join([same_verb(verb), *rest])
        key = form.kind, words, form.marks, form.modifiers, end
        group = groups.setdefault(key, _Group(form, end))
        group.wordings[row["wording"]] += row["triples"]
    return list(groups.values())


def _by_use(groups: list[_Group]) -> dict[Use, Meaning]:
    """Return the meaning of each wording, after naming the groups that were not recognised."""
    for group in groups:
        if not group.name:
            _name_group(group)
    return {
        (wording, group.end): Meaning(group.name, group.turned(wording))
        for group in groups
        for wording in group.wordings
    }


def _recognise(
    group: _Group, earlier: dict[Use, dict[str, Any]], own: dict[tuple[Any, ...], Meaning]
) -> None:
    """Name a group by the ontology, the vocabulary or an earlier edition, if one recognises it."""
    for wording in group.commonest():
        form = form_of(wording)
        meaning = _listed(own, form)
        if meaning:
            meaning = Meaning(meaning.name, meaning.turned != form.turned)
        meaning = meaning or meaning_of(wording, group.end)
        row = None if depends_on_kinds(wording) else earlier.get((wording, group.end))
        if row and row["relation"] in known_relations():
            row = None  # an earlier vocabulary may have had wordings that this one lacks
        if meaning is None and row and form_of(row["relation"]).modifiers == form.modifiers:
            meaning = Meaning(row["relation"], row["turned"])
        if meaning:
            group.name = meaning.name
            group.flipped = meaning.turned != form.turned
            return


def _name_group(group: _Group) -> None:
    """Name a group by its commonest wording."""
    # "genre" rather than "genre of", if most texts put it so.
    triples_by_end = Counter({True: 0, False: 0})
    for wording, triples in group.wordings.items():
        triples_by_end[form_of(wording).turned] += triples
    # A negated or modal relation keeps its direction, too: it has no active form.
    keeps_end = group.form.kind == "noun" or bool(group.form.marks)
    group.flipped = keeps_end and triples_by_end[True] > triples_by_end[False]
    forward = [wording for wording in group.commonest() if not group.turned(wording)]
    group.name = _readable(forward, group)


def _readable(commonest: list[str], group: _Group) -> str:
    """Return a name for a group: its commonest wording from head to tail, without varying parts."""
    form = form_of(commonest[0]) if commonest else replace(group.form, turned=group.flipped)
    if form.kind == "phrase" or form.marks:
        return commonest[0] if commonest else form.words
    words = [*form.modifiers, *form.words.split()]
    if form.kind == "noun" and not form.turned and len(words) == len(bare_words(form).split()):
        words.append("of")
    if form.kind == "verb":
        own = [
            w.split()[-len(words) :]
            for w in commonest
            if w.split()[-len(words) + 1 :] == words[1:] or len(words) == 1
        ]
        finite = [w for w in own if not w[0].endswith("ing")]
        past = (*verb_forms(words[0], "VBD"), words[0])[0]
        words = finite[0] if finite else [past, *words[1:]]
    name = " ".join(words)
    if group.end == "time" and words[-1] in ("in", "at", "during") and len(words) > 1:
        name = " ".join([*words[:-1], "on"])
    return name


def _in_chinese(rows: list[dict[str, Any]], meant: list[Meaning], earlier: set[str]) -> set[str]:
    """Return the relations that get their Chinese names: stated in Chinese only, or named so."""
    named = known_relations()
    pairs = list(zip(rows, meant, strict=True))
    foreign = {meaning.name for row, meaning in pairs if not is_chinese(row["wording"])}
    return {
        meaning.name
        for meaning in meant
        if (entry := named.get(meaning.name))
        and entry.chinese
        and meaning.name not in earlier
        and (entry.chinese in earlier or meaning.name not in foreign)
    }


def _inverses(rows: list[dict[str, Any]], meant: list[Meaning]) -> dict[str, str]:
    """Return the wording of each relation from tail to head, if one is known."""
    turned: dict[str, Counter[str]] = defaultdict(Counter)
    for row, meaning in zip(rows, meant, strict=True):
        if meaning.turned:
            turned[meaning.name][row["wording"]] += row["triples"]
    known = known_relations()
    inverses = {}
    for name, wordings in turned.items():
        inverses[name] = min(wordings, key=lambda wording: (-wordings[wording], wording))
    inverses.update({n: e.inverse for n, e in known.items() if e.inverse})
    return inverses


def _correct(meanings: dict[Use, Meaning], overrides: pa.Table) -> None:
    """Apply people's corrections, oldest first; each holds for all wordings of the same form."""
    wanted = [row for row in overrides.to_pylist() if row["action"] == "relation"]
    for row in wanted:
        form = form_of(row["subject"])
        for wording, end in list(meanings):
            own = form_of(wording)
            if (own.undirected, own.modifiers) != (form.undirected, form.modifiers):
                continue
            flipped = own.turned != form.turned
            if row["object"] is None:
                meanings[wording, end] = Meaning(row["subject"], flipped)
                continue
            name, inverse = row["object"], bool(row["inverse"])
            target = meanings.get((name, end)) or meaning_of(name, end) or Meaning(name, False)
            meanings[wording, end] = Meaning(target.name, target.turned != (inverse != flipped))


def _corrections_word_for_word(overrides: pa.Table) -> dict[str, Meaning]:
    """Return people's corrections by the wording that each is about, for wordings of models."""
    corrections = {}
    for row in overrides.to_pylist():
        if row["action"] == "relation":
            words = plain_wording(row["subject"]).casefold()
            corrections[words] = Meaning(row["object"] or row["subject"], bool(row["inverse"]))
    return corrections
