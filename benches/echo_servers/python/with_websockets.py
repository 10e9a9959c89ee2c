# An echo server of websockets on uvloop: python with_websockets.py PORT
import asyncio
import sys

import uvloop
from websockets.asyncio.server import serve
from websockets.exceptions import ConnectionClosed


async def echo(peer):
    try:
        async for message in peer:
            await peer.send(message)
    except ConnectionClosed:
        pass


async def main():
    async with serve(echo, "127.0.0.1", int(sys.argv[1]), compression=None):
        await asyncio.get_running_loop().create_future()


uvloop.run(main())
