"""Learning one row at a time, in memory that follows the columns that occur."""
