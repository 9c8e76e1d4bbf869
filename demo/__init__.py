"""`make demo`: a LeaderWorkerSet's life, told step by step and checked as it is told."""
