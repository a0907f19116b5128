-- What is said plainly: neither denied nor wished, supposed, reported, asked or due.
create view asserted_triples as
select * from triples where polarity = 'positive' and modality = 'asserted';
