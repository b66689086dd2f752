"""What a node is told about itself, its organisation and its parameters."""
