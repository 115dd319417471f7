"""The same task, given to several systems at the same endpoint simulator."""
