"""The wordings of relations: their forms, and the vocabulary of common relations."""
