"""Prompts: a Markdown file each, its examples as data beside it, its reply schema in code."""
