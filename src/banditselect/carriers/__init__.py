"""What carries every policy and knows none: lanes, streams, features coming in, decisions, settings, files."""
