"""Pure composition: frames → rows of tables and events (rows), frames → what a host is (survey, topology)."""
