"""What algorithms are made of: experts, their aggregation, confidence sets, and ways from scores to probabilities."""
