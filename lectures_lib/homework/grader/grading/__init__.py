"""From submissions to results: run them, judge them, remember what has been done."""
