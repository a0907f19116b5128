-- What the passages state: the newest complete extraction of each, at every place where it stands.
create table chosen as
select passage_id, e.engine, e.prompt_sha, e.commit, e.extracted_at, e.sentences
from j_extractions e, build_settings s
where outcome = 'complete'
  and passage_id in (select passage_id from passages)
  and run_id not in (select subject from overrides where action = 'exclude')
qualify row_number() over (
    partition by passage_id
    order by (e.engine = s.engine and e.prompt_sha = s.prompt_sha) desc, e.commit desc
) = 1;

create table places as
select p.document_id, p.passage_id, p.span_start as passage_start, p.witness, p.sensitivity,
       c.engine, c.prompt_sha, c.commit, c.extracted_at
from passages p join chosen c using (passage_id);

create table name_statements as
select p.*, m.name, m.kind, m.kind_stated, m.kind_scores, m.capital_tells,
       p.passage_start + m.span_start as doc_start
from j_name_mentions m join places p using (passage_id, engine, prompt_sha, commit);

-- A confidence as the verdicts of this home correct it: Platt's line over the engine's log odds.
create macro corrected(given, intercept, slope) as case when slope is null then given else
    round(1 / (1 + exp(-(intercept + slope * ln(
        least(greatest(given, 0.001), 0.999) / (1 - least(greatest(given, 0.001), 0.999)))))), 3)
end;

-- What the rules take from tables and labels has one confidence.
create macro is_laid_out(engine, given) as
    engine = 'rules' and given = (select stated_confidence from build_settings);

create table triple_statements as
select p.*, m.* exclude (passage_id, engine, prompt_sha, commit, polarity, modality, confidence),
       m.confidence as engine_confidence, corrected(m.confidence, intercept, slope) as confidence,
       coalesce(m.polarity, 'positive') as polarity, coalesce(m.modality, 'asserted') as modality,
       p.passage_start + m.span_start as doc_start, p.passage_start + m.span_end as doc_end
from j_triple_mentions m join places p using (passage_id, engine, prompt_sha, commit)
left join recalibrations r on r.fact_kind = 'triple' and r.engine = p.engine
    and r.laid_out = is_laid_out(p.engine, m.confidence)
where corrected(m.confidence, intercept, slope) >= if(
    m.relation in (select relation from ontology_relations),
    (select ontology_min_confidence from build_settings),
    (select min_confidence from build_settings)
);

-- A passage may show only those cells of a column of numbers that could be years.
update triple_statements s set value_type = 'number', number = tail::double, "date" = null
from (select document_id, relation from triple_statements where is_laid_out(engine, engine_confidence)
      group by all having sum(case value_type when 'number' then 1 when 'year' then -1 end) > 0) a
where a.document_id = s.document_id and a.relation = s.relation and s.value_type = 'year'
    and regexp_full_match(tail, '[0-9]{4}') and is_laid_out(engine, engine_confidence);

-- What is useful is right, so a clause is at least as likely right as useful: of judged statements whose
-- usefulness was above their confidence, .93 were right. Verdicts that lower the one lower the other.
create table clause_statements as
select p.*, m.* exclude (passage_id, engine, prompt_sha, commit, confidence)
           replace (if(usefulness > corrected(m.confidence, intercept, slope),
               corrected(m.confidence, intercept, slope), usefulness) as usefulness),
       m.confidence as engine_confidence, corrected(m.confidence, intercept, slope) as confidence,
       p.passage_start + m.span_start as doc_start, p.passage_start + m.span_end as doc_end
from (select * replace (greatest(confidence, usefulness) as confidence) from j_statement_mentions) m
join places p using (passage_id, engine, prompt_sha, commit)
left join recalibrations r on r.fact_kind = 'statement' and r.engine = p.engine;

create table description_statements as
select p.*, m.* exclude (passage_id, engine, prompt_sha, commit, confidence),
       m.confidence as engine_confidence, corrected(m.confidence, intercept, slope) as confidence,
       p.passage_start + m.span_start as doc_start, p.passage_start + m.span_end as doc_end
from j_description_mentions m join places p using (passage_id, engine, prompt_sha, commit)
left join recalibrations r on r.fact_kind = 'description' and r.engine = p.engine
where corrected(m.confidence, intercept, slope) >= (select min_confidence from build_settings);

create table aspect_statements as
select p.*, m.* exclude (passage_id, engine, prompt_sha, commit, confidence),
       m.confidence as engine_confidence, corrected(m.confidence, intercept, slope) as confidence,
       p.passage_start + m.span_start as doc_start, p.passage_start + m.span_end as doc_end
from j_aspect_mentions m join places p using (passage_id, engine, prompt_sha, commit)
left join recalibrations r on r.fact_kind = 'aspect' and r.engine = p.engine
where corrected(m.confidence, intercept, slope) >= (select min_confidence from build_settings);

create table alias_statements as
select p.*, m.* exclude (passage_id, engine, prompt_sha, commit, confidence),
       m.confidence as engine_confidence, corrected(m.confidence, intercept, slope) as confidence,
       p.passage_start + m.span_start as doc_start, p.passage_start + m.span_end as doc_end
from j_alias_mentions m join places p using (passage_id, engine, prompt_sha, commit)
left join recalibrations r on r.fact_kind = 'alias' and r.engine = p.engine
where corrected(m.confidence, intercept, slope) >= (select min_confidence from build_settings)
  -- The id that an audit gives to an alias, so that a wrong one merges nobody.
  and left(sha256('alias' || chr(31) || lower(m.name || ' = ' || m.alias)), 32)
      not in (select fact_id from rejected);
