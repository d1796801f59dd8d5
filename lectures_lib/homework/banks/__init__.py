"""The question banks, one package for each homework: what is asked, the right answer, and the
mistakes that are known. What they share stands beside them: `inputs` at random, cases that are
`telling` one mistake from another, and `mistakes` that questions about tensors have in common.
"""
