"""Ontologies: the kinds and relations that users expect of a corpus; read, checked and proposed."""
