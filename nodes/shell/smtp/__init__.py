"""SMTP on real sockets: aiosmtpd and aiosmtplib adapted, with TLS."""
