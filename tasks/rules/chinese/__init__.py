"""The Chinese half of the embedded engine: a dictionary segmenter and clause patterns."""

from tasks.rules.chinese.passage import extract_chinese

__all__ = ["extract_chinese"]
