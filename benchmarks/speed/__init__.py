"""Speed against peers, one file a question."""
