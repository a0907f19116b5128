"""Where the tables live: the journal, the editions built from it, and the way to query them."""
