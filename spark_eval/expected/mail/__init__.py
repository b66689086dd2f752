"""What should become of messages: taken, passed on, delivered, reported."""
