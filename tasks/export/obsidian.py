"""A vault for Obsidian: linked notes, one per entity, with the sentence behind each fact."""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import yaml

from tasks.export.contents import Contents

ENTITIES_AT_ONCE = 256  # entities with their facts and sentences
# Names of files without what Obsidian or a file system gives a meaning; of names that differ in
# case or form alone, all but the first get the hash of their ids behind a ~, which no name has.
NAMES = """create temp table notes as
    with safe as (
        select entity_id, trim(left(trim(regexp_replace(nfc_normalize(name),
            '[\\p{C}\\p{Zl}\\p{Zp}\\x{FFFE}\\x{FFFF}\\\\/:*?"<>|#^\\[\\]%{}~]+',
            ' ', 'g'), ' .'), 50), ' .') as file
        from entities),
    numbered as (
        select *, row_number() over (partition by lower(file) order by entity_id) as number
        from safe)
    select entity_id, case
        when file = '' or number > 1
            or regexp_matches(file, '(?i)^(con|prn|aux|nul|com[0-9]|lpt[0-9])([.]|$)')
        then concat(file, '~', left(md5(entity_id), 12)) else file end as file
    from numbered"""
QUERY = """with said as (
        select head_id, list(struct_pack(relation := relation, tail := tail, file := file,
            polarity := polarity, modality := modality, confidence := confidence, uri := uri,
            sentence := passages.text[span_start - start + 1:span_end - start])
            order by relation, tail, triple_id) as facts
        from triples left join notes on tail_id = entity_id
            left join (select document_id, uri from documents) using (document_id)
            left join (select document_id, passage_id, any_value(text) as text,
                    any_value(span_start) as start from passages group by all) as passages
                using (document_id, passage_id)
        group by head_id),
    named as (select entity_id, list(alias order by alias) as aliases from aliases group by all)
    select file, entity_id, name, kind, graph, description, aliases, facts
    from entities join notes using (entity_id) left join named using (entity_id)
        left join said on head_id = entity_id"""
_HIDDEN = re.compile(
    "[\0-\x1f\x7f-\x9f\xad\u200b\u200e\u200f\u202a-\u202e\u2060-\u206f\ufeff\ufffe]"
)
_USUAL = (None, "positive", "asserted")
# What Markdown or Obsidian would take for markup: a picture's address would be fetched.
_MARKUP = re.compile(r"([\\`*_\[\]<>#|~$%!&^={}@:])")


def write_vault(contents: Contents, folder: Path) -> None:
    """Write a folder of notes, whose frontmatter has ids, kinds and aliases."""
    folder.mkdir()
    contents.connection.execute(NAMES)
    for batch in contents.batches(QUERY, ENTITIES_AT_ONCE):
        for entity in batch.to_pylist():
            lines = [*_head(entity)]
            if entity["facts"]:
                facts = (part for one in entity["facts"] for part in _fact(one))
                lines += ["", "## Facts", "", *facts]
            text = "\n".join(lines) + "\n"
            (folder / f"{entity['file']}.md").write_text(text, encoding="utf-8")


def _head(entity: dict[str, Any]) -> Iterator[str]:
    properties = {
        "aliases": sorted({entity["name"], *(entity["aliases"] or [])}),
        "kind": entity["kind"],
        "graph": entity["graph"],
        "almanac": entity["entity_id"],
    }
    yield f"---\n{yaml.safe_dump(properties, allow_unicode=True, sort_keys=False)}---"
    yield f"# {_plain(entity['name'])}"
    if entity["description"]:
        yield f"\n{_plain(entity['description'])}"


def _fact(fact: dict[str, Any]) -> Iterator[str]:
    tail = f"[[{fact['file']}]]" if fact["file"] else _plain(fact["tail"])
    meant = [word for word in (fact["polarity"], fact["modality"]) if word not in _USUAL]
    notes = ", ".join([*meant, f"{fact['confidence']:.2f}"])
    yield f"- **{_plain(fact['relation'])}** {tail} ({notes})"
    if fact["sentence"]:
        yield f"    - “{_plain(fact['sentence'])}” — {_plain(fact['uri'])}"


def _plain(text: str) -> str:
    """Return a text in one line that is shown as it is, without marks that reorder or hide it."""
    return _MARKUP.sub(r"\\\1", _HIDDEN.sub("", " ".join(text.split())))
