"""What the configuration says of a node, its organisation and its parameters."""
