"""SMTP between simulated servers: sessions, replies and verbs without a socket."""
