"""Whether evidence supports a claim, contradicts it, or does not say."""
