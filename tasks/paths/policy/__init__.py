"""The policy that finds paths in a graph (KnowGPT, P_RL)."""
