"""The judge as functions of histories, while it is built beside the one of tables.

Bytes of a record become typed rows (`read`), rows become histories of messages and servers
(`histories`), what should have happened is derived from them (`expected`), and a claim is a plain
function from a history to cases (`claims`). Nothing here knows Spark.
"""
