"""Reports that found what the next task is about, or did not, to measure a model by."""
