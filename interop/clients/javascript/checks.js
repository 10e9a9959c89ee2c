// What the clients in JavaScript share, in Node and in a browser. A client is a function
// `connect(url)` for a connection with
//
//   send(type, bytes, fragments)   type is "text" or "binary"
//   receive()                      { type, bytes }, or { type: "close", code, reason } at the end
//   ping(bytes)                    resolves when the pong with the same bytes is there
//   close(code, reason)
//
// each of which throws a Skip if the library has no way to do it.
(() => {
  class Skip extends Error {}

  // What has been received and not asked for yet.
  class Inbox {
    #items = [];
    #waiting = [];

    push(item) {
      const resolve = this.#waiting.shift();
      if (resolve) resolve(item); else this.#items.push(item);
    }

    next() {
      if (this.#items.length > 0) return Promise.resolve(this.#items.shift());
      return new Promise((resolve) => this.#waiting.push(resolve));
    }
  }

  const encoder = new TextEncoder();
  // What payloads repeat. Of a prime length: whatever is at the wrong place is noticed.
  const UNITS = {
    ascii: Uint8Array.from({ length: 6661 }, (_, i) => 97 + (i + (i >> 8)) % 26),
    bytes: Uint8Array.from({ length: 65521 }, (_, i) => i * 31 + (i >> 8) * 17),
    emoji: encoder.encode("a😀é漢!"),
  };

  // Text is not cut within a character: it ends with dots.
  function fill(name, size) {
    const unit = UNITS[name];
    const bytes = new Uint8Array(size).fill(46);
    let i = 0;
    for (; i + unit.length <= size; i += unit.length) bytes.set(unit, i);
    if (name !== "emoji") bytes.set(unit.subarray(0, size - i), i);
    return bytes;
  }

  const sleep = (milliseconds) => new Promise((resolve) => setTimeout(resolve, milliseconds));

  function expect(what, right) {
    if (!right) throw new Error(what);
  }

  function same(a, b) {
    if (a.length !== b.length) return false;
    for (let i = 0; i < a.length; i += 1) if (a[i] !== b[i]) return false;
    return true;
  }

  class Checks {
    constructor(url, connect, print) {
      Object.assign(this, { url, connect, print, settings: {} });
    }

    async run(lines) {
      for (const line of lines) {
        const [name, ...words] = line.split(" ");
        if (name === "set") this.settings[words.shift()] = words.join(" ");
        else this.print(await this.#result(line, name, words));
      }
    }

    async #result(line, name, words) {
      try {
        await this[name](...words);
        return `ok ${line}`;
      } catch (error) {
        return `${error instanceof Skip ? "skip" : "fail"} ${line}: ${error.message}`;
      }
    }

    async #open() {
      const connection = await this.connect(this.url);
      if (this.settings.hello) {
        await connection.send("text", encoder.encode(this.settings.hello), 1);
        await this.#receive(connection);
      }
      return connection;
    }

    async #receive(connection) {
      const ignored = encoder.encode(this.settings.ignore ?? "");
      for (;;) {
        const message = await connection.receive();
        if (ignored.length === 0 || message.type !== "text" ||
            !same(message.bytes.subarray(0, ignored.length), ignored)) return message;
      }
    }

    #within(before, bytes, after) {
      const ends = [before, after].map((name) => encoder.encode(this.settings[name] ?? ""));
      const result = new Uint8Array(ends[0].length + bytes.length + ends[1].length);
      result.set(ends[0]);
      result.set(bytes, ends[0].length);
      result.set(ends[1], ends[0].length + bytes.length);
      return result;
    }

    async #send(connection, type, bytes, fragments = 1) {
      await connection.send(type, this.#within("before", bytes, "after"), fragments);
    }

    async #expectEcho(connection, type, bytes) {
      const message = await this.#receive(connection);
      expect(`${type} expected, not ${message.type} ${message.code ?? ""}`, message.type === type);
      const right = this.#within("reply_before", bytes, "reply_after");
      expect(`${message.bytes.length} other bytes came back`, same(message.bytes, right));
    }

    async #closed(connection, codes, reason) {
      const message = await this.#receive(connection);
      expect(`a close expected, not ${message.type}`, message.type === "close");
      expect(`closed with ${message.code} ${message.reason}`,
        codes.split(",").includes(String(message.code)) &&
        (reason === undefined || message.reason === reason));
    }

    async echo(type, fillName, size, fragments) {
      const connection = await this.#open();
      const bytes = fill(fillName, Number(size));
      await this.#send(connection, type, bytes, Number(fragments));
      await this.#expectEcho(connection, type, bytes);
      await connection.close(1000, "");
    }

    async burst(count) {
      const connection = await this.#open();
      const messages = Array.from({ length: Number(count) }, (_, i) =>
        (i % 2 === 0 ? ["text", fill("emoji", i * 37)] : ["binary", fill("bytes", i * 37)]));
      for (const [type, bytes] of messages) await this.#send(connection, type, bytes);
      for (const [type, bytes] of messages) await this.#expectEcho(connection, type, bytes);
      await connection.close(1000, "");
    }

    async ping(size) {
      const connection = await this.#open();
      await connection.ping(fill("bytes", Number(size)));
      await connection.close(1000, "");
    }

    // The client closes first.
    async close(code, reason) {
      const connection = await this.#open();
      await connection.close(Number(code), reason);
      await this.#closed(connection, code, reason);
    }

    // The server closes first, as it is told to.
    async closed(code, reason) {
      const connection = await this.#open();
      await connection.send("text", encoder.encode(`close ${code} ${reason}`), 1);
      await this.#closed(connection, code, reason);
    }

    // The server pings, and says when the pong has come.
    async pinged() {
      const connection = await this.#open();
      await connection.send("text", encoder.encode("ping"), 1);
      await this.#expectEcho(connection, "text", encoder.encode("pong"));
      await connection.close(1000, "");
    }

    // The close has to arrive while this client is still sending.
    async too_big(size, codes) {
      const connection = await this.#open();
      const sent = Promise.resolve(connection.send("binary", new Uint8Array(Number(size)), 1));
      sent.catch(() => {});
      await this.#closed(connection, codes);
    }

    async invalid_utf8() {
      const connection = await this.#open();
      await connection.send("text", Uint8Array.of(97, 255), 1);
      await this.#closed(connection, "1007");
    }

    async restart() {
      const bytes = fill("ascii", 200);
      let connection = await this.#open();
      await this.#send(connection, "text", bytes);
      await this.#expectEcho(connection, "text", bytes);
      this.print("restart");
      while ((await this.#receive(connection)).type !== "close");
      for (let attempts = 0; ; attempts += 1) {
        try {
          connection = await this.#open();
          break;
        } catch (error) {
          if (attempts === 300) throw error;
          await sleep(100);
        }
      }
      await this.#send(connection, "text", bytes);
      await this.#expectEcho(connection, "text", bytes);
      await connection.close(1000, "");
    }
  }

  Object.assign(globalThis, { Checks, Inbox, Skip });
})();
