"""Texts as vectors: sentence encoders, hidden states of any model, endpoints."""

HALF, SINGLE = "<f2", "<f4"  # how vectors are stored
