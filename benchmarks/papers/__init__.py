"""The tables of the four papers in their form, with the figures measured here beside them."""
