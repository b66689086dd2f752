"""What the record says of one thing: a run, a server, a pair of servers, a database, a message."""
