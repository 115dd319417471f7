"""Pages for a browser. The files in `built/` are made from `web/` by `make pages`."""
