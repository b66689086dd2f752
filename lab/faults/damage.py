"""What a damaged disk gives back for a file: nothing of its beginning can be read."""

DAMAGE = b"\xa5" * 65_536


def damaged(image: bytes) -> bytes:
    """A file's content, its beginning overwritten; as long as before."""
    return DAMAGE[: len(image)] + image[len(DAMAGE) :]
