"""The log files of a node, in Exchange's formats, and the record of its inputs."""
