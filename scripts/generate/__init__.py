"""What `make generate` writes: tables, CRDs, golden files. Law: runs at development time only."""
