"""Arguments, lanes, features coming in, random streams, decisions, workers, files: what policies run on."""
