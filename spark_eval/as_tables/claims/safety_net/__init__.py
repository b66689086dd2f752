"""Claims about Safety Nets and mailbox database copies."""
