"""The instructor's side: submissions are found, run shut in, judged and reported. A student's check
needs nothing of it.
"""
