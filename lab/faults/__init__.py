"""Faults: one file a fault, each with a start, a stop and evidence; the registry is by kind.

All faults of links are one class, which does what their plan says (`lab.plan.link_faults`). A new
fault of servers is a class with the methods of `Fault` below, in a file of its own, and a line in
`KINDS`. `calm.py` is the no-op to copy from. A fault acts on a running lab through its proxies
and servers; when it happens is the schedule's business, and whether it mattered the evaluation's.
"""

from collections.abc import Callable, Mapping
from typing import Any

from lab.faults.at_breakpoint import AtPlace
from lab.faults.calm import Calm
from lab.faults.corrupt import Corrupt
from lab.faults.corrupt_mailboxes import CorruptMailboxes
from lab.faults.fault import Fault
from lab.faults.kill import Kill
from lab.faults.links import OnLinks
from lab.faults.machine import FillDisk, SkewClock, UseDisk
from lab.faults.observer.target import RunningLab
from lab.faults.pause import Pause
from lab.faults.power_loss import PowerLoss
from lab.faults.restart import Restart
from lab.faults.stop import Stop
from lab.plan import faults as plan_faults
from lab.plan.faults import LINK_KINDS
from lab.plan.plan import Plan

KINDS: Mapping[str, Callable[[Any, RunningLab], Fault]] = {
    "calm": Calm,
    **dict.fromkeys(LINK_KINDS, OnLinks),
    "kill": Kill,
    "power_loss": PowerLoss,
    "corrupt": Corrupt,
    "pause": Pause,
    "stop": Stop,
    "restart": Restart,
    "fill_disk": FillDisk,
    "disk_use": UseDisk,
    "skew_clock": SkewClock,
    "corrupt_mailboxes": CorruptMailboxes,
}


def faults_of(plan: Plan, lab: RunningLab) -> list[Fault | AtPlace]:
    """The faults of a plan, ready to start or to wait for their places, in the plan's order."""
    return [
        fault_of(planned, lab)
        if planned.when is None
        else AtPlace(planned, lab, KINDS[planned.kind])
        for planned in plan.faults
    ]


def fault_of(planned: plan_faults.Fault, lab: RunningLab) -> Fault:
    """One that starts at a time."""
    return KINDS[planned.kind](planned, lab)
