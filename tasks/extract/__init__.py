"""Extraction: the pending passages, the choice of an engine, and the engines."""
