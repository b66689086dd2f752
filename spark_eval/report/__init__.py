"""The page a person reads. Made from verdict.json and the tables; decides nothing."""
