"""Compare what an answer returned with what it should have: pure functions on plain values (see
`inside.values`). Each module compares one kind of thing.
"""
