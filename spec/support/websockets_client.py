"""A client of Python's websockets, another implementation of permessage-deflate, which sends back
each message that it receives, in two fragments.

    websockets_client.py PORT NO_CONTEXT_TAKEOVER MAX_WINDOW_BITS
"""
import asyncio
import sys

from websockets.asyncio.client import connect
from websockets.extensions.permessage_deflate import ClientPerMessageDeflateFactory


async def main(port, no_context_takeover, bits):
    deflate = ClientPerMessageDeflateFactory(
        server_no_context_takeover=no_context_takeover,
        client_no_context_takeover=no_context_takeover,
        server_max_window_bits=bits,
        client_max_window_bits=bits,
    )
    url = f"ws://127.0.0.1:{port}/"
    async with connect(url, compression=None, extensions=[deflate], max_size=None) as socket:
        async for message in socket:
            half = len(message) // 2
            await socket.send([message[:half], message[half:]])


asyncio.run(main(int(sys.argv[1]), sys.argv[2] == "true", int(sys.argv[3])))
