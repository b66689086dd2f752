"""What another server says in a verb of the organisation, as the input of the core that it is."""

from nodes.core.interface.copy_commands import (
    AskCopyStatus,
    CopyCommand,
    DismountDatabase,
    MountDatabase,
    NameActiveCopy,
    UpdateCopy,
)
from nodes.core.interface.effects import (
    DeliverTo,
    ForkOf,
    Prologue,
    ShipLog,
    ShipMailbox,
    ShipSeed,
)
from nodes.core.interface.inputs import (
    ActiveCopyNamed,
    CopyStatusAsked,
    DeliveryRequested,
    DismountAsked,
    ForkAnnounced,
    Input,
    LogAnnounced,
    MailboxAnnounced,
    MountAsked,
    OutboxRequested,
    SeedAnnounced,
    SeedAsked,
    ShadowRequested,
)
from nodes.core.model.outbox import IntoOutbox


def of_announcement(session: str, prologue: Prologue | IntoOutbox) -> Input:
    """What the verb that announces a message says."""
    match prologue:
        case DeliverTo(database, network_message_id):
            return DeliveryRequested(session, database, network_message_id)
        case ForkOf(network_message_id):
            return ForkAnnounced(session, network_message_id)
        case IntoOutbox(database):
            return OutboxRequested(session, database)
        case ShipLog(epoch, log):
            return LogAnnounced(session, epoch, log)
        case ShipSeed(epoch, database):
            return SeedAnnounced(session, database, epoch)
        case ShipMailbox(database, address):
            return MailboxAnnounced(session, database, address)
    return ShadowRequested(
        session,
        prologue.primary,
        prologue.database_id,
        prologue.internal_id,
        prologue.network_message_id,
        prologue.resubmit_request,
    )


def of_order(session: str, command: CopyCommand) -> Input:
    """What Active Manager, or another server, says to a server."""
    match command:
        case AskCopyStatus(database):
            return CopyStatusAsked(session, database)
        case MountDatabase(database, epoch, before_ms):
            return MountAsked(session, database, epoch, before_ms)
        case DismountDatabase(database, epoch):
            return DismountAsked(session, database, epoch)
        case NameActiveCopy(database, server, epoch):
            return ActiveCopyNamed(session, database, server, epoch)
        case UpdateCopy(database):
            return SeedAsked(session, database)
