"""One measurement a file, each a row of the table that `make bench` prints."""
