"""What a page shows: plots, viewers, steppers, tables, source code."""
