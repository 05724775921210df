"""What algorithms are made of: experts, their aggregation, confidence sets, from scores to probabilities."""
