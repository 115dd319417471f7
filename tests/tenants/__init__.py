"""Two users of one server: what one of them must never reach of the other."""
