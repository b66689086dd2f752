"""The forms that names take, in files that a person writes and in plans, and how a hint says them.

A name of a plan becomes the name of a file, a host, a database: none of them may lead elsewhere.
"""

SLUG = r"^[a-z0-9]([a-z0-9-]{0,60}[a-z0-9])?$"
SERVER = r"^[a-z]([a-z0-9-]{0,28}[a-z0-9])?$"
DATABASE = r"^[A-Za-z][A-Za-z0-9]{0,30}$"
DAG = r"^[A-Za-z0-9]([A-Za-z0-9-]{0,60}[A-Za-z0-9])?$"
DOMAIN = r"^[a-z0-9-]{1,63}(\.[a-z0-9-]{1,63})+$"

PATTERN_WORDS = {
    SLUG: "use a to z, 0 to 9 and hyphens between them, at most 62",
    SERVER: "begin with a letter; use a to z, 0 to 9 and hyphens between them, at most 30",
    DAG: "use letters, digits and hyphens between them, at most 62",
    DATABASE: "begin with a letter; use letters and digits, at most 31",
    DOMAIN: "write a domain in lower case, such as partner.example",
}
