"""The judge, spread by Spark: a run whole in one task, or one large run by its messages."""
