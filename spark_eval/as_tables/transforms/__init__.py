"""From typed rows to what happened: messages, copies, faults. DataFrame to DataFrame."""
