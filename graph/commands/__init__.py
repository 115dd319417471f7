"""The commands behind `supervise`; each module is imported when its command runs."""
