"""Relations as texts word them: their forms, and the vocabulary of common ones."""
