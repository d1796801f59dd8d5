"""The question banks, one package for each homework: what is asked, the right answer, and the
mistakes that are known.
"""
