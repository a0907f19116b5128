"""A network that finds the facts of a passage: heads, tails, relations and the words for them."""
