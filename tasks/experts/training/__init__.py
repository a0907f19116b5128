"""Training of an expert: texts are tokenized into mapped files and packed into rows for a model.

Checkpoints let a training that was killed resume.
"""
