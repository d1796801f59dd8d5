"""Questions that people mark: sheets without names, shared out, filled in, and read back."""
