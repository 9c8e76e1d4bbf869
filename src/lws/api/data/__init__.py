"""Generated data files, checked in. Law: no code; `make generate` writes what is here."""
