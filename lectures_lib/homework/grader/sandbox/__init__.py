"""The walls around student code: one process without network, files or neighbours, and the
conversation with it.
"""
