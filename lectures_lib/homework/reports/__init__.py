"""What people get to see: grade books, feedback pages, the report on the class."""
