"""Plays: from features and a model to probabilities, changing nothing."""
