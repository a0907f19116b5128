-- Texts as each format writes them. Names and texts are hostile: nothing in them may end a field.

-- RDF: addresses of things by their ids, and literals (N-Triples, section 2.4). Of what is null
-- nothing is said, so they are null, too: `concat` would leave it out and write the rest.
create temp macro address(kind, id) as '<urn:almanac:' || kind || ':' || url_encode(id) || '>';
create temp macro literal(words) as '"' || replace(replace(replace(replace(
    words, '\', '\\'), '"', '\"'), chr(10), '\n'), chr(13), '\r') || '"';
create temp macro typed(value, kind) as
    '"' || value || '"^^<http://www.w3.org/2001/XMLSchema#' || kind || '>';
create temp macro in_language(words, language) as literal(words) ||
    case when regexp_full_match(language, '[a-zA-Z]{2,8}(-[a-zA-Z0-9]{1,8})*')
    then '@' || language else '' end;
create temp macro place(document, first, past) as
    '<urn:almanac:document:' || url_encode(document) || '#char=' || first || ',' || past || '>';

-- XML 1.0 has no way to write most control characters.
create temp macro xml(words) as case when regexp_matches(words, '[&<>"\x00-\x1f\x{fffe}\x{ffff}]')
    then replace(replace(replace(replace(replace(regexp_replace(
        words, '[\x00-\x08\x0b\x0c\x0e-\x1f\x{fffe}\x{ffff}]', chr(65533), 'g'),
        '&', '&amp;'), '<', '&lt;'), '>', '&gt;'), '"', '&quot;'), chr(13), '&#13;')
    else words end;
create temp macro data(key, words) as
    case when words is not null then concat('<data key="', key, '">', xml(words), '</data>') end;
create temp macro plain(key, value) as
    case when value is not null then concat('<data key="', key, '">', value, '</data>') end;
