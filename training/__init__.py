"""Train the verifier; the worker neither contains nor needs this package.

Four commands, each seeded and each with ``--help``: ``python -m training.prepare`` makes pairs of evidence and claim,
``training.train`` fits the model on them, ``training.evaluate`` measures it, ``training.export`` writes the file that
the worker loads. What was tried, with its figures: docs/reference/verifier.md.
"""
