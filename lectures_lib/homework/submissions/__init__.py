"""What was handed in, however it was packed."""
