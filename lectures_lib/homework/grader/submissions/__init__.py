"""What was handed in, however it was packed: a folder or a zip; plain files, or what Canvas, Moodle
and Gradescope give out.

`collect` reads them. Names and contents come from people who may mean harm: nothing is unpacked to
the disk, no name is used as a path, no link is followed, and nothing is read further than
`notebook.MAX_BYTES`.
"""
