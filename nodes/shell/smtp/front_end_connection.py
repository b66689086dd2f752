"""An inbound session of a front end: MAIL is its core's to answer too, which has the server behind
say what becomes of it (TP-7).
"""

from __future__ import annotations

from aiosmtpd.smtp import Envelope

from nodes.core.interface.inputs import SenderOffered
from nodes.shell.smtp.inbound_connection import InboundConnection
from nodes.shell.smtp.syntax import NULL_SENDER, on_the_wire


class FrontEndConnection(InboundConnection):
    """From MAIL on a transaction is under way, which EHLO or RSET makes void."""

    async def offer_sender(self, envelope: Envelope, address: str) -> bytes:
        reply = await self._ask(SenderOffered(self.name, "" if address == NULL_SENDER else address))
        if reply.code == 250:
            envelope.mail_from = address
            self._is_announced = True
        return on_the_wire(reply)
