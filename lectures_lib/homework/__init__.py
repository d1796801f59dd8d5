"""Homework: the questions, `check` for students, `grade` and `release` for instructors."""
