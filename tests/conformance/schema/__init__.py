"""Objects that a real API server and the sandbox's schemas must judge and default alike."""
