"""The host made of real containers: Ansible, Docker, Toxiproxy and the node image."""
