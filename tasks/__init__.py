"""The work itself, one verb a file; plain functions, in the order a refresh calls them.

ingest (reading, observe) -> split -> extract (rules, parser, values) -> build (resolve) -> index
-> gates; then search and answer read what was published. `refresh` tells the whole story.
"""
