"""Shadow redundancy: shadows made, held, asked about and promoted."""
