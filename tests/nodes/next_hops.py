"""Next hops of the tests' organisations."""

from nodes.core.model.next_hop import DeliveryType, NextHop

DB1, DB2 = NextHop.into("DB1"), NextHop.into("DB2")
EXT1 = NextHop(DeliveryType.EXTERNAL, "ext1")
DAG1, LYON = NextHop(DeliveryType.DAG, "DAG1"), NextHop(DeliveryType.MAILBOX_GROUP, "lyon")
