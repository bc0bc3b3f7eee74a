"""Read the responses of model services: OpenAI, Anthropic, Google."""
