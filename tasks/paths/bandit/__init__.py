"""The contextual bandit that chooses an extraction and a template (KnowGPT, equations 5 to 8)."""
