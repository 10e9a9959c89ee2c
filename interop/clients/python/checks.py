"""What the clients in Python share. A client is an async context manager `connect(url, deflate)` of a
connection with the coroutines

    send(type, payload, fragments)   type is "text" or "binary", payload bytes
    receive()                        (type, payload); raises Closed at the end
    ping(payload)                    returns when the pong with the same payload is there
    close(code, reason)              closes, and raises Closed with what the server has answered

each of which raises Skip if the library has no way to do it.
"""

import asyncio
import sys


class Skip(Exception):
    pass


class Closed(Exception):
    def __init__(self, code, reason):
        super().__init__(f"closed with {code} {reason}")
        self.code, self.reason = code, reason


# What payloads repeat. Of a prime length: whatever is at the wrong place is noticed.
UNITS = {
    "ascii": bytes(97 + (i + (i >> 8)) % 26 for i in range(6661)),
    "bytes": bytes((i * 31 + (i >> 8) * 17) & 255 for i in range(65521)),
    "emoji": "a😀é漢!".encode(),
}


def fill(name, size):
    """Text is not cut within a character: it ends with dots."""
    unit = UNITS[name]
    count, rest = divmod(size, len(unit))
    return unit * count + (b"." * rest if name == "emoji" else unit[:rest])


def parts(payload, count):
    size = -(-len(payload) // count)
    return [payload[i * size:(i + 1) * size] for i in range(count)]


class Checks:
    def __init__(self, connect):
        self.url, self.deflate = sys.argv[1], sys.argv[2] == "deflate"
        self.connect, self.settings = connect, {}

    async def run(self):
        for line in sys.stdin.read().splitlines():
            name, *words = line.split(" ")
            if name == "set":
                self.settings[words[0]] = " ".join(words[1:]).encode()
            else:
                print(await self.result(line, name, words), flush=True)

    async def result(self, line, name, words):
        try:
            if name == "restart":
                await self.restart()
            else:
                async with self.connect(self.url, self.deflate) as connection:
                    await self.hello(connection)
                    await getattr(self, f"check_{name}")(connection, *words)
            return f"ok {line}"
        except Skip as skip:
            return f"skip {line}: {skip}"
        except Exception as error:
            return f"fail {line}: {error!r}"

    async def hello(self, connection):
        if "hello" in self.settings:
            await connection.send("text", self.settings["hello"], 1)
            await self.receive(connection)

    async def receive(self, connection):
        while True:
            kind, payload = await connection.receive()
            if "ignore" not in self.settings or not payload.startswith(self.settings["ignore"]):
                return kind, payload

    def within(self, before, payload, after):
        return self.settings.get(before, b"") + payload + self.settings.get(after, b"")

    async def send(self, connection, kind, payload, fragments=1):
        await connection.send(kind, self.within("before", payload, "after"), fragments)

    async def expect_echo(self, connection, kind, payload):
        right = kind, self.within("reply_before", payload, "reply_after")
        if await self.receive(connection) != right:
            raise Exception("something else came back")

    async def closed(self, action, codes, reason=None):
        try:
            await action
        except Closed as closed:
            if str(closed.code) not in codes.split(",") or reason not in (None, closed.reason):
                raise
        else:
            raise Exception("it was not closed")

    async def check_echo(self, connection, kind, name, size, fragments):
        payload = fill(name, int(size))
        await self.send(connection, kind, payload, int(fragments))
        await self.expect_echo(connection, kind, payload)

    async def check_burst(self, connection, count):
        messages = [("binary", fill("bytes", i * 37)) if i % 2 else ("text", fill("emoji", i * 37))
                    for i in range(int(count))]
        for kind, payload in messages:
            await self.send(connection, kind, payload)
        for kind, payload in messages:
            await self.expect_echo(connection, kind, payload)

    async def check_ping(self, connection, size):
        await connection.ping(fill("bytes", int(size)))

    async def check_close(self, connection, code, reason):
        """The client closes first."""
        await self.closed(connection.close(int(code), reason), code, reason)

    async def check_closed(self, connection, code, reason):
        """The server closes first, as it is told to."""
        await connection.send("text", f"close {code} {reason}".encode(), 1)
        await self.closed(self.receive(connection), code, reason)

    async def check_pinged(self, connection):
        """The server pings, and says when the pong has come."""
        await connection.send("text", b"ping", 1)
        await self.expect_echo(connection, "text", b"pong")

    async def check_too_big(self, connection, size, codes):
        """The close has to arrive while this client is still sending."""
        sending = asyncio.create_task(connection.send("binary", bytes(int(size)), 1))
        await self.closed(self.receive(connection), codes)
        sending.cancel()
        await asyncio.gather(sending, return_exceptions=True)

    async def check_invalid_utf8(self, connection):
        await connection.send("text", b"a\xff", 1)
        await self.closed(self.receive(connection), "1007")

    async def echo_again(self, connection):
        payload = fill("ascii", 200)
        await self.hello(connection)
        await self.send(connection, "text", payload)
        await self.expect_echo(connection, "text", payload)

    async def restart(self):
        async with self.connect(self.url, self.deflate) as connection:
            await self.echo_again(connection)
            print("restart", flush=True)
            try:
                while True:
                    await self.receive(connection)
            except Closed:
                pass
        for attempts in range(301):
            try:
                async with self.connect(self.url, self.deflate) as connection:
                    return await self.echo_again(connection)
            except Exception:
                if attempts == 300:
                    raise
                await asyncio.sleep(0.1)
