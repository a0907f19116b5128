"""Prompts: a Markdown file each, its examples as data beside it, its reply schema in code."""

from tasks.prompts.strict_schema import strict_schema

__all__ = ["strict_schema"]
