"""The operator's LeaderWorkerSets on a real control plane, the operator as its own process."""
