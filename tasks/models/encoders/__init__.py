"""Texts as vectors: sentence encoders, hidden states of any model, endpoints."""
