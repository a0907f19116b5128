"""The contextual bandit that chooses extraction and template (KnowGPT, equations 5 to 8)."""
