"""Gates that decide whether a question needs outside knowledge, with budgets (Thrust).

A high score means that the model knows. Knowledge is retrieved if the score is below a threshold.
"""
