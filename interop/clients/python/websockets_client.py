"""python websockets_client.py URL plain|deflate"""

import asyncio
from contextlib import asynccontextmanager

import websockets

from checks import Checks, Closed, parts


class Connection:
    def __init__(self, socket):
        self.socket = socket

    async def send(self, kind, payload, fragments):
        text = kind == "text"
        await self.socket.send(parts(payload, fragments) if fragments > 1 else payload, text=text)

    async def receive(self):
        try:
            message = await self.socket.recv()
        except websockets.ConnectionClosed as error:
            close = error.rcvd
            raise Closed(close.code if close else 1006, close.reason if close else "") from error
        return ("text", message.encode()) if isinstance(message, str) else ("binary", message)

    async def ping(self, payload):
        await (await self.socket.ping(payload))

    async def close(self, code, reason):
        await self.socket.close(code, reason)
        raise Closed(self.socket.close_code, self.socket.close_reason)


@asynccontextmanager
async def connect(url, deflate):
    compression = "deflate" if deflate else None
    socket = await websockets.connect(url, compression=compression, max_size=None, proxy=None)
    try:
        yield Connection(socket)
    finally:
        if socket.state is websockets.State.OPEN:
            await socket.close()


asyncio.run(Checks(connect).run())
