"""Tests: unit, property, golden, conformance, integration, and of the repository itself."""
