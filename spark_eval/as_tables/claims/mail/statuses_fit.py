"""statuses_fit: the reply that a tracking log has of mail put off, or given up, fits that it was
(TL-1).

Asks every DEFER and FAIL row that says a reply: of mail that is put off it is transient (4yz), of
mail that is given up permanent (5yz), whatever its enhanced code (RFC 5321 section 4.2.1): what
expired is given up with 550 4.4.7 (F§2.3). Where a row has a `recipient-status`, it has a value for
each recipient, plain or in braces (F§1.3), and a FAIL row has one, since its server gave up with
some reply. A DEFER row may have none: then `source-context` says why, with the reply that came, if
one did.

Not asked: a DEFER row that says no reply, since a next hop that is not reached gives none. Texts
may hold semicolons: where there are more values than recipients, the first alone is surely a reply.
What other words of a FAIL row stand for is not documented, so a value of it that begins with no
reply leaves it unknown.
"""

from __future__ import annotations

from pyspark.sql import DataFrame

from spark_eval.as_tables.claims.claim import Claim, case
from spark_eval.as_tables.expected.tables import Tables
from spark_eval.sql.reasons import cases as cases_of
from spark_eval.sql.reasons import holds, not_asked, unknown, violated

GIVEN_UP = "event = 'FAIL'"
SAID = "coalesce(recipient_status, context)"
SURE = "IF(size(said) > size(recipients), slice(said, 1, 1), said)"
# a final reply, so none of 3yz; of a status in braces the first part is the last error
CODE = r"regexp_extract(text, '^ *(?:\\[?\\{LED=)?([245])[0-9][0-9]([ -]|$)', 1)"
FITS = f"IF({GIVEN_UP}, '5', '4')"
_JUDGED = cases_of(
    (
        f"{GIVEN_UP} AND recipient_status IS NULL",
        violated("{server} gave it up, and its FAIL row has no recipient-status"),
    ),
    (
        f"size(wrong) > 0 AND {GIVEN_UP}",
        violated("{server} gave it up, and the reply that it logs is not permanent: {wrong[0]}"),
    ),
    (
        "size(wrong) > 0",
        violated("{server} put it off, and the reply that it logs is not transient: {wrong[0]}"),
    ),
    (
        "recipient_status IS NOT NULL AND size(said) < size(recipients)",
        violated(
            "its {event} row at {server} has {size(recipients)} recipients, and a "
            "recipient-status for {size(said)}"
        ),
    ),
    (f"size(silent) > 0 AND {GIVEN_UP}", unknown("{server} logs no reply: {silent[0]}")),
    ("said IS NULL OR size(silent) > 0", not_asked()),
    otherwise=holds(),
)


def cases(tables: Tables) -> DataFrame:
    rows = tables.record.tracking.where("event IN ('DEFER', 'FAIL')")
    said = rows.selectExpr("*", f"split({SAID}, ';') AS said")
    replies = said.selectExpr(
        "*", f"transform({SURE}, text -> struct(text, {CODE} AS class)) AS replies"
    )
    known = replies.selectExpr(
        "*",
        "filter(replies, r -> r.class = '').text AS silent",
        f"filter(replies, r -> r.class NOT IN ('', {FITS})).text AS wrong",
    )
    return known.selectExpr("*", f"{_JUDGED} AS j").selectExpr(
        *case(
            status="j.status",
            subject="concat(message_id, ' at ', server)",
            detail="j.reason",
            at_ms="at_ms",
            refs="ref",
            requirements="array('TL-1')",
        )
    )


CLAIM = Claim("statuses_fit", ("TL-1",), cases)
