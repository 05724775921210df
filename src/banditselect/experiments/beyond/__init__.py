"""Experiments that are not in the paper: rivals in one arena, tasks in sequence, a true model that changes."""
