"""A node's hands: sockets, files, threads and the clock. Every decision is `nodes.core`'s."""
