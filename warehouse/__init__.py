"""Storage of the tables: the journal, the editions built from it, and queries on them."""
