"""The policy that walks a graph (KnowGPT, P_RL)."""
