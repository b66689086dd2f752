"""What a transport node does: sockets, disk, clock and logs around the core that decides."""
