"""A node's process reads Active Directory when it is notified, and anew at each start."""

from __future__ import annotations

import csv
import signal
import smtplib
import ssl
from pathlib import Path

import pytest

from nodes.core.config.groups import DistributionGroup
from nodes.core.config.mailboxes import Mailbox
from nodes.shell.logs.exchange import TRACKING_FIELDS
from nodes.shell.storage.directory import (
    DIRECTORY,
    Directory,
    DirectoryWatch,
    change_directory,
    goes_by_it,
    note_created,
    read_directory,
)
from tests.nodes.shell.organisation import DOMAIN, Organisation, fqdn
from tests.nodes.shell.running import process
from tests.nodes.shell.sending import send
from tests.nodes.shell.waiting import until

SERVER, GROUP = "par-mbx1", f"staff@{DOMAIN}"
ONE, TWO = f"db1-user01@{DOMAIN}", f"db1-user02@{DOMAIN}"


MOVED = (Mailbox(ONE, "DB2"), Mailbox(TWO, "DB1", "DB2"))


def staff(*members: str) -> dict[str, object]:
    return {"Name": "staff", "Address": GROUP, "Members": list(members)}


def directory(*groups: dict[str, object]) -> dict[str, object]:
    moved = [
        {"Address": ONE, "Database": "DB2", "MovesTo": None},
        {"Address": TWO, "Database": "DB1", "MovesTo": "DB2"},
    ]
    return {"DistributionGroups": list(groups), "Mailboxes": moved}


def test_without_the_file_the_groups_are_those_of_the_configuration(tmp_path: Path) -> None:
    assert read_directory(tmp_path) is None
    assert goes_by_it(tmp_path)


def test_servers_that_are_inactive_stand_in_it(tmp_path: Path) -> None:
    change_directory(tmp_path, {**directory(), "Inactive": ["a", "b"]})
    found = read_directory(tmp_path)
    assert found is not None
    assert found.inactive == ("a", "b")
    change_directory(tmp_path, {**directory(), "NotAuthenticating": ["c"]})
    found = read_directory(tmp_path)
    assert found is not None
    assert (found.inactive, found.not_authenticating) == (("a", "b"), ("c",))
    change_directory(tmp_path, {**directory(), "Inactive": "a"})
    with pytest.raises(ValueError, match="Inactive is no list"):
        read_directory(tmp_path)


def test_a_node_goes_by_it_when_it_has_said_that_it_read_the_last_version(tmp_path: Path) -> None:
    watch = DirectoryWatch(tmp_path)
    assert watch.news() is None
    change_directory(tmp_path, directory(staff(ONE)))
    assert watch.news() is not None
    assert not goes_by_it(tmp_path)
    watch.tell_read()
    assert goes_by_it(tmp_path)
    assert watch.news() is None, "twice"
    change_directory(tmp_path, directory(staff(TWO)))
    assert not goes_by_it(tmp_path)
    assert watch.news() == Directory(2, (DistributionGroup(GROUP, (TWO,)),), (), MOVED)
    watch.tell_read()
    assert goes_by_it(tmp_path)


def test_what_a_new_server_learns_of_databases_stays_when_groups_change(tmp_path: Path) -> None:
    note_created(tmp_path, ["DB1", "DB2"])
    assert read_directory(tmp_path) == Directory(1, None, ("DB1", "DB2"))
    change_directory(tmp_path, directory(staff(ONE)))
    groups = (DistributionGroup(GROUP, (ONE,)),)
    assert read_directory(tmp_path) == Directory(2, groups, ("DB1", "DB2"), MOVED)


def test_a_group_of_five_thousand_is_read_whole(tmp_path: Path) -> None:
    members = [f"user{number:04d}@a-rather-long-name.partner.example" for number in range(5000)]
    change_directory(tmp_path, directory(staff(*members)))
    group = DistributionGroup(GROUP, tuple(members))
    assert read_directory(tmp_path) == Directory(1, (group,), (), MOVED)


@pytest.mark.parametrize("text", ["{}", '{"version": 1}', '{"version": "1"}', "[", '{"version": 1'])
def test_a_file_that_is_no_directory_is_refused(tmp_path: Path, text: str) -> None:
    (tmp_path / DIRECTORY).write_text(text)
    with pytest.raises(ValueError, match=r"."):
        read_directory(tmp_path)


@pytest.mark.slow
def test_a_node_learns_of_a_change_at_once_and_one_that_was_down_at_its_start(
    tmp_path: Path,
) -> None:
    organisation = Organisation(tmp_path)
    organisation.sections = {
        "DistributionGroups": [staff(ONE)],
        "TransportConfig": {"ShadowRedundancyEnabled": "false"},
    }
    data = organisation.data(SERVER)
    with process(organisation, SERVER) as node:
        assert str(send(node.port(), 1, GROUP).reply).startswith("250")
        change_directory(data, directory(staff(TWO)))
        node.process.send_signal(signal.SIGUSR1)
        until(lambda: goes_by_it(data) or None, "the node has read it")
        assert str(send(node.port(), 2, GROUP).reply).startswith("250")
        assert node.stop() == 0
    change_directory(data, directory(staff(ONE, TWO)))
    with process(organisation, SERVER) as node:
        node.port()
        assert goes_by_it(data)
        assert str(send(node.port(), 3, GROUP).reply).startswith("250")
        assert node.stop() == 0
    assert expanded(organisation) == [(GROUP, ONE), (GROUP, TWO), (GROUP, f"{ONE};{TWO}")]


@pytest.mark.slow
def test_another_server_cannot_authenticate_where_the_receive_connector_does_not_let_it(
    tmp_path: Path,
) -> None:
    organisation = Organisation(tmp_path)
    organisation.sections = {"TransportConfig": {"ShadowRedundancyEnabled": "false"}}
    data = organisation.data(SERVER)
    with process(organisation, SERVER) as node:
        assert logged_on(organisation, "lyo-mbx1", node.port()) == "250"
        change_directory(data, {**directory(), "NotAuthenticating": [SERVER]})
        node.process.send_signal(signal.SIGUSR1)
        until(lambda: goes_by_it(data) or None, "the node has read it")
        assert logged_on(organisation, "lyo-mbx1", node.port()) == (
            "454 4.7.0 Temporary authentication failure"
        )
        assert logged_on(organisation, SERVER, node.port()) == "250"
        assert str(send(node.port(), 1, ONE).reply).startswith("250")
        assert node.stop() == 0


def logged_on(organisation: Organisation, server: str, port: int) -> str:
    """What a server hears to the EHLO behind its handshake; of a 250 no more than that."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.check_hostname = False
    context.load_verify_locations(organisation.authority.file)
    context.load_cert_chain(*organisation.authority.issue(fqdn(server)))
    client = smtplib.SMTP("127.0.0.1", port, fqdn(server), timeout=20)
    try:
        client.starttls(context=context)
        code, said = client.ehlo()
        return "250" if code == 250 else f"{code} {said.decode()}"
    finally:
        client.close()


def expanded(organisation: Organisation) -> list[tuple[str, str]]:
    """The rows EXPAND of its tracking log: group and members."""
    (log,) = organisation.logs(SERVER).glob("MSGTRK*.LOG")
    lines = [line for line in log.read_text().splitlines() if not line.startswith("#")]
    rows = [dict(zip(TRACKING_FIELDS.split(","), row, strict=True)) for row in csv.reader(lines)]
    found = [row for row in rows if row["event-id"] == "EXPAND"]
    assert all(row["related-recipient-address"] == row["reference"] for row in found)
    return [(row["related-recipient-address"], row["recipient-address"]) for row in found]
