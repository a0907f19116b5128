"""Strategies that extract paths and subgraphs from a graph."""
