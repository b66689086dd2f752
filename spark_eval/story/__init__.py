"""The story of a message: every line of the record that is about it, in order of time.

One definition, in plain Python, serves the terminal and the report: a story is some twenty lines
out of text files, and a Spark session takes longer to start than they take to read. No module here
imports Spark, and none judges.
"""
