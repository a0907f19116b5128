"""An endpoint to try things on: OpenAI's wire format, the embedded engine's answers, any fault."""
