#!/usr/bin/env python3
"""Stands in front of servers and can take them away: forwards TCP connections to ports of this machine.

    gate.py PORT...

Prints the ports it listens on, one for each PORT, as JSON. Then it reads commands: "close" ends all connections and
refuses new ones, "open" takes them again on the same ports. It ends with its standard input.
"""

import asyncio
import json
import sys

BLOCK = 65536


class Gate:
    """One listening port in front of one server."""

    def __init__(self, backend):
        self.backend, self.port, self.server, self.open_streams = backend, 0, None, set()

    async def open(self):
        if self.server is None:
            self.server = await asyncio.start_server(self._serve, "127.0.0.1", self.port, reuse_address=True)
            self.port = self.server.sockets[0].getsockname()[1]

    async def close(self):
        if self.server is not None:
            self.server.close()
            self.server = None
        for stream in list(self.open_streams):
            stream.transport.abort()

    async def _serve(self, reader, writer):
        streams = {writer}
        try:
            to_read, to_write = await asyncio.open_connection("127.0.0.1", self.backend)
            streams.add(to_write)
            self.open_streams |= streams
            await asyncio.gather(_copy(reader, to_write), _copy(to_read, writer))
        except OSError:
            pass
        finally:
            self.open_streams -= streams
            for stream in streams:
                stream.transport.abort()


async def _copy(reader, writer):
    try:
        while data := await reader.read(BLOCK):
            writer.write(data)
            await writer.drain()
    finally:
        writer.transport.abort()


async def run(backends):
    gates = [Gate(port) for port in backends]
    for gate in gates:
        await gate.open()
    print(json.dumps([gate.port for gate in gates]), flush=True)
    loop = asyncio.get_running_loop()
    while line := await loop.run_in_executor(None, sys.stdin.readline):
        for gate in gates:
            await (gate.open() if line.strip() == "open" else gate.close())
        print("done", flush=True)


if __name__ == "__main__":
    asyncio.run(run([int(word) for word in sys.argv[1:]]))
