"""What faults may have done to the way from one server to another, as intervals.

A way is (server, peer, service). It is in trouble while either end may be away, full or out of
order, and while its link is cut, slow or throttled. `hangs`: whoever had begun something then may
wait for its end longer than the fault lasts; a server that starts anew waits for nothing. A way
from a server to itself is in trouble while the server is.
"""

from __future__ import annotations

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from spark_eval.as_tables.transforms.fault_windows import by_link, downs
from spark_eval.fault_kinds import LINK, is_one_of, kinds
from spark_eval.spark.joins import joined

TROUBLE = "struct<lo: bigint, hi: bigint, hangs: boolean>"
NO_TROUBLES = f"CAST(array() AS array<{TROUBLE}>)"
WAY = ["run", "server", "peer", "service"]
SERVICES = "array('smtp', 'replication', 'management')"
ENDS_IT = "kind IN ('kill', 'stop', 'restart')"


def troubles(windows: DataFrame, servers: DataFrame) -> DataFrame:
    """One row a way that was in trouble: `run`, `server`, `peer`, `service`, `troubles`, an array
    in order of time.
    """
    others = servers.select("run", F.col("server").alias("other"))
    own = f"named_struct('lo', possible.lo, 'hi', possible.hi, 'hangs', NOT ({ENDS_IT}))"
    theirs = "named_struct('lo', possible.lo, 'hi', possible.hi, 'hangs', true)"
    away = downs(windows).transform(joined, others, "run").selectExpr(
        "run",
        f"inline(IF(other = server, array(struct(server, other AS peer, {own} AS trouble)), "
        f"array(struct(server, other AS peer, {own} AS trouble), "
        f"struct(other AS server, server AS peer, {theirs} AS trouble))))",
    ).selectExpr("run", "server", "peer", f"explode({SERVICES}) AS service", "trouble")  # fmt: skip
    links = by_link(windows.where(is_one_of(kinds(LINK)))).selectExpr(*WAY, f"{theirs} AS trouble")
    return (
        away.unionByName(links)
        .groupBy(*WAY)
        .agg(F.expr("array_sort(collect_set(trouble)) AS troubles"))
    )


def prolonged(troubles: str, by_ms: str) -> str:
    """SQL: the same as plain intervals, those that hang longer by `by_ms`."""
    longer = f"x.hi + IF(x.hangs, {by_ms}, 0L)"
    return f"transform({troubles}, x -> named_struct('lo', x.lo, 'hi', {longer}))"
