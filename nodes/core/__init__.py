"""What a transport node decides: no clock, socket, disk, thread or chance below this line."""
