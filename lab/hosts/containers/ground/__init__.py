"""What a lab stands on: addresses, certificates, inventory, playbook, and their verification."""
