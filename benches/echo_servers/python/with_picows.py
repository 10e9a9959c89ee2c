# An echo server of picows on uvloop: python with_picows.py PORT
import asyncio
import sys

import uvloop
from picows import WSFrame, WSListener, WSMsgType, WSTransport, ws_create_server

DATA = (WSMsgType.TEXT, WSMsgType.BINARY)


class Echo(WSListener):
    def on_ws_frame(self, transport: WSTransport, frame: WSFrame):
        if frame.msg_type in DATA:
            transport.send(frame.msg_type, frame.get_payload_as_memoryview())


async def main():
    server = await ws_create_server(lambda request: Echo(), "127.0.0.1", int(sys.argv[1]))
    await server.serve_forever()


uvloop.run(main())
