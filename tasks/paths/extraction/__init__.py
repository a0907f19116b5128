"""Strategies that take paths and subgraphs out of a graph."""
