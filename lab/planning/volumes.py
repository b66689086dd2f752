"""The volumes of queue databases that faults use up (TL-8).

A server whose disk nobody touches needs no volume of a known size, and watches none. One that a
fault is for gets one, unless its settings give it another.
"""

from collections.abc import Iterable
from dataclasses import replace

from lab.plan.faults import DiskUse, Fault
from lab.plan.parts import Settings
from nodes.core.config.units import MIB

# at 99 percent there is room for the journals of databases yet
VOLUME_BYTES = 1024 * MIB
SECTION, SIZE = "TransportService", "QueueDatabaseVolumeSize"


def with_volumes(settings: Settings, faults: Iterable[Fault]) -> Settings:
    """The same, with a size of each volume that a fault is for."""
    named = {fault.server for fault in faults if isinstance(fault, DiskUse)}
    servers = {
        name: {**own, SECTION: {**own[SECTION], SIZE: own[SECTION][SIZE] or VOLUME_BYTES}}
        if name in named
        else own
        for name, own in settings.servers.items()
    }
    return replace(settings, servers=servers)
