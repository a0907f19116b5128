-- Training texts of every set's last verbalization of each graph, unless it was removed since.
create table current_verbalizations as
select * from (
    select * from j_verbalizations
    qualify row_number() over (partition by expert, graph order by commit desc) = 1
)
where action = 'make' and is_readable(graph);

create view current_texts as
from j_verbalized_texts
where verbalization_id in (select verbalization_id from current_verbalizations);

-- A text goes with what it was made from: it must not tell of a document that was taken away.
create table training_text_facts as
from current_texts
where graph <> 'corpus'
   or text_id not in (
          select text_id from (select text_id, unnest(triple_ids) as triple_id from current_texts where graph = 'corpus')
          anti join triple_facts using (triple_id)
      )
      and (passage_id is null or (document_id, passage_id) in (select (document_id, passage_id) from passages));

-- Current verbalizations whose graph has changed since. The sum does not depend on the order of
-- rows; it is Verbalizer.source_sha's.
create table stale_verbalizations as
select v.verbalization_id from current_verbalizations v
where case
    when v.graph = 'corpus' then v.source_sha <> (
        select count(*) || ':' || coalesce(bit_xor(n), 0) from (
            select md5_number(triple_id) as n from triple_facts
            union all
            select md5_number(document_id || passage_id) from passages
        )
    )
    else exists (from j_graph_imports i where i.graph = v.graph and i.commit > v.commit)
end;

-- Experts as they stand: the last event of every expert that was not removed since. An expert that
-- was trained here is stale if a graph of its texts has changed, or texts were made anew from
-- something else than it was trained on.
create table expert_facts as
select * replace (
    len(e.sources) > 0 and exists (
        from current_verbalizations v
        where v.expert = e.expert
            and v.graph = coalesce(e.graph, v.graph)
            and (
                v.verbalization_id in (from stale_verbalizations)
                or not list_contains(e.sources, v.source_sha)
            )
    ) as stale
)
from (
    select * from j_expert_events
    qualify row_number() over (partition by expert order by commit desc) = 1
) e
where action <> 'remove' and is_readable(graph);
