"""python aiohttp_client.py URL plain|deflate"""

import asyncio
from contextlib import asynccontextmanager

import aiohttp
from aiohttp import WSMsgType

from checks import Checks, Closed, Skip


class Connection:
    def __init__(self, socket):
        self.socket = socket

    async def send(self, kind, payload, fragments):
        if fragments > 1:
            raise Skip("it sends no fragments")
        await self.socket.send_frame(payload, WSMsgType[kind.upper()])

    async def receive(self):
        message = await self.socket.receive()
        if message.type == WSMsgType.TEXT:
            return "text", message.data.encode()
        if message.type == WSMsgType.BINARY:
            return "binary", message.data
        if message.type == WSMsgType.PING:
            await self.socket.pong(message.data)
            return await self.receive()
        if message.type == WSMsgType.PONG:
            return "pong", message.data
        if message.type == WSMsgType.CLOSE:
            raise Closed(message.data, message.extra)
        raise Closed(1006, "")

    async def ping(self, payload):
        await self.socket.ping(payload)
        message = await self.receive()
        while message[0] != "pong":
            message = await self.receive()
        assert message[1] == payload

    async def close(self, code, reason):
        await self.socket.close(code=code, message=reason.encode())
        raise Closed(self.socket.close_code, reason)


@asynccontextmanager
async def connect(url, deflate):
    async with aiohttp.ClientSession() as session:
        async with session.ws_connect(url, compress=15 if deflate else 0, max_msg_size=0,
                                      autoping=False) as socket:
            yield Connection(socket)


asyncio.run(Checks(connect).run())
