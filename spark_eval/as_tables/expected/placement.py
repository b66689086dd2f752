"""Which servers may hold the shadow of whose messages, from topology and settings alone (SR-2 to
SR-4).

One row for each primary server and candidate; a pair that is not here is not permitted.
"""

from __future__ import annotations

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from spark_eval.spark.joins import joined


def candidates(servers: DataFrame) -> DataFrame:
    """`run`, `primary_server`, `candidate`, `remote`: members of the boundary (SR-2)."""
    primary = servers.where("role = 'mailbox'").selectExpr(
        "run", "server AS primary_server", "site", "dag"
    )
    other = servers.where("role = 'mailbox'").selectExpr(
        "run", "server AS candidate", "site AS its_site", "dag AS its_dag"
    )
    inside = "dag = its_dag OR (dag IS NULL AND its_dag IS NULL AND site = its_site)"
    return (
        joined(primary, other, "run")
        .where(f"primary_server <> candidate AND ({inside})")
        .selectExpr("run", "primary_server", "candidate", "site <> its_site AS remote", "dag")
    )


def rules(candidates: DataFrame, servers: DataFrame, runs: DataFrame) -> DataFrame:
    """One row a primary server: `remotes`, `locals` (names), `remote_attempts`, `local_attempts`;
    `preference`, its own or that of the run; `enabled` and `is_made` as of the run.

    The preference counts in a DAG over several sites only; elsewhere the local count alone (SR-3).
    """
    primary = servers.where("role = 'mailbox'").selectExpr(
        "run", "server AS primary_server", "own_preference"
    )
    grouped = candidates.groupBy("run", "primary_server").agg(
        F.expr("collect_set(candidate) FILTER (WHERE remote) AS remotes"),
        F.expr("collect_set(candidate) FILTER (WHERE NOT remote) AS locals"),
    )
    none = "CAST(array() AS array<string>)"
    known = primary.join(grouped, ["run", "primary_server"], "left").selectExpr(
        "run", "primary_server", "own_preference",
        f"coalesce(remotes, {none}) AS remotes", f"coalesce(locals, {none}) AS locals",
    )  # fmt: skip
    settings = runs.select("run", "enabled", "preference", "is_made", "max_remote", "max_local")
    spread = "size(remotes) > 0"
    preferred = "coalesce(own_preference, preference)"
    return joined(known, settings, "run").selectExpr(
        "run", "primary_server", "remotes", "locals", "enabled", "is_made",
        f"{preferred} AS preference",
        f"IF({spread} AND {preferred} <> 'LocalOnly', max_remote, 0) AS remote_attempts",
        f"IF({spread} AND {preferred} = 'RemoteOnly', 0, max_local) AS local_attempts",
    )  # fmt: skip
