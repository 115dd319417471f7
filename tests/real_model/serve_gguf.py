"""Serve a GGUF file with llama.cpp until the process is ended.

    .venv-real/bin/python tests/real_model/serve_gguf.py GGUF PORT [THREADS [SLOTS]]

It is run by an environment of its own, which has `xllamacpp` and nothing of this project.
"""

import os
import sys
import time

import xllamacpp  # type: ignore[import-not-found]

NAME = "local"
"""The model's name for clients."""
TOKENS_PER_SLOT = 8192
THREADS = max(1, (os.cpu_count() or 2) - 1)
"""Its threads wait for each other actively: with none to spare they slow each other down."""


def main(gguf: str, port: str, threads: str = str(THREADS), slots: str = "4") -> None:
    """Start the server, and print a line when it listens."""
    parameters = xllamacpp.CommonParams()
    parameters.model.path = gguf
    parameters.model_alias = {NAME}
    parameters.hostnames = ["127.0.0.1"]
    parameters.port = int(port)
    parameters.n_parallel = int(slots)
    parameters.n_ctx = int(slots) * TOKENS_PER_SLOT
    parameters.use_jinja = True
    parameters.verbosity = 1  # errors only
    parameters.cpuparams.n_threads = parameters.cpuparams_batch.n_threads = int(threads)
    server = xllamacpp.Server(parameters)
    print(f"listening on {server.listening_address}/v1", flush=True)
    while True:
        time.sleep(3600)


if __name__ == "__main__":
    main(*sys.argv[1:])
