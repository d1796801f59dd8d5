"""What people get to see: grade books, import files for learning platforms, feedback pages, the
report on the class.

everything  writes all of it; gradebook, canvas, moodle (tables), feedback, class_report (pages),
gradescope (one submission).
"""
