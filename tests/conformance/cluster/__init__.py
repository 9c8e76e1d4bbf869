"""What clusters do, the sandbox's and a real one."""
