"""Entity linking: rank the nodes of a graph that a name in a question may mean.

name_index.py    the index of one graph's names: built with the edition, mapped when opened
spellings.py     forms for looking up a name: n-grams, initials, acronyms
likeness.py      the similarity of two names
descriptions.py  the descriptions of nodes: shown to choose by, and searched by their words
context.py       how well a question fits a node's description and neighbours
acceptance.py    how likely a name means any node at all
link.py          candidates from all of these, ranked; none if nothing fits
"""
