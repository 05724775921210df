"""What carries every policy and knows none: lanes and their random streams, features as they come in, decisions on
their way to a reward, settings, refusals, files."""
