"""Compare what an answer returned with what it should have: pure functions on plain values (see
`inside.values`). Each module compares one kind of thing; `answers` takes them together, by a
question's own measure.
"""
