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
select p.*, m.name, m.kind, m.kind_stated, m.capital_tells,
       p.passage_start + m.span_start as doc_start
from j_name_mentions m join places p using (passage_id, engine, prompt_sha, commit);

create table triple_statements as
select p.*, m.* exclude (passage_id, engine, prompt_sha, commit, polarity, modality),
       coalesce(m.polarity, 'positive') as polarity, coalesce(m.modality, 'asserted') as modality,
       p.passage_start + m.span_start as doc_start, p.passage_start + m.span_end as doc_end
from j_triple_mentions m join places p using (passage_id, engine, prompt_sha, commit)
where m.confidence >= (select min_confidence from build_settings);

create table clause_statements as
select p.*, m.* exclude (passage_id, engine, prompt_sha, commit),
       p.passage_start + m.span_start as doc_start, p.passage_start + m.span_end as doc_end
from j_statement_mentions m join places p using (passage_id, engine, prompt_sha, commit);

create table description_statements as
select p.*, m.* exclude (passage_id, engine, prompt_sha, commit),
       p.passage_start + m.span_start as doc_start, p.passage_start + m.span_end as doc_end
from j_description_mentions m join places p using (passage_id, engine, prompt_sha, commit)
where m.confidence >= (select min_confidence from build_settings);

create table aspect_statements as
select p.*, m.* exclude (passage_id, engine, prompt_sha, commit),
       p.passage_start + m.span_start as doc_start, p.passage_start + m.span_end as doc_end
from j_aspect_mentions m join places p using (passage_id, engine, prompt_sha, commit)
where m.confidence >= (select min_confidence from build_settings);

create table alias_statements as
select p.*, m.* exclude (passage_id, engine, prompt_sha, commit),
       p.passage_start + m.span_start as doc_start, p.passage_start + m.span_end as doc_end
from j_alias_mentions m join places p using (passage_id, engine, prompt_sha, commit)
where m.confidence >= (select min_confidence from build_settings);
