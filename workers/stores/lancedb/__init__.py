"""Store conversational memory in LanceDB."""
