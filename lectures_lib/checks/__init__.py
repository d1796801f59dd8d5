"""What is refused at the door, with what came and what is expected: sizes no model can have, lists
in place of tensors, and the like. Each module has the checks of one thing.

Checks of shapes and types read no tensor. Those that read one (token ids, lengths) do so on a CPU
only, for a GPU would have to be waited for: what is wrong there, the device says in its own words,
or nobody does.
"""
