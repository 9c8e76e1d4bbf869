"""deploy/ as helm, kubectl and promtool see it; no control plane."""
