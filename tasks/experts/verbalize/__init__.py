"""Training texts from the triples, descriptions and passages of an edition."""
