"""Generated tables of the built-in kinds; see scripts/generate/sandbox.py."""
