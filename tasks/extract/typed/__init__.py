"""Relations named by a small trained model."""
