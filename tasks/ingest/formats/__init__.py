"""List sources and read the clean text of files in every format.

`sources.scan` lists a source; `read.read_item` turns one item into texts, refusals and removals.
Each input results in exactly one of them; `inputs.Reason` lists the reasons for refusals.
"""
