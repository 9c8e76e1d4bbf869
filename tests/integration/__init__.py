"""The operator and its surroundings on a real control plane."""
