// The WebSocket of browsers, which undici has for Node, too.
(() => {
  const decoder = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });
  const encoder = new TextEncoder();

  function text(bytes) {
    try {
      return decoder.decode(bytes);
    } catch {
      throw new Skip("its text is always valid");
    }
  }

  globalThis.connectWith = (WebSocket) => (url) => new Promise((resolve, reject) => {
    const inbox = new Inbox();
    const socket = new WebSocket(url);
    socket.binaryType = "arraybuffer";
    socket.onerror = () => reject(new Error("not connected"));
    socket.onmessage = ({ data }) => inbox.push(typeof data === "string"
      ? { type: "text", bytes: encoder.encode(data) }
      : { type: "binary", bytes: new Uint8Array(data) });
    socket.onclose = ({ code, reason }) => inbox.push({ type: "close", code, reason });
    socket.onopen = () => resolve({
      receive: () => inbox.next(),
      send(type, bytes, fragments) {
        if (fragments > 1) throw new Skip("it sends no fragments");
        socket.send(type === "text" ? text(bytes) : bytes);
      },
      ping() { throw new Skip("it sends no pings"); },
      close(code, reason) {
        if (code !== 1000 && code < 3000) throw new Skip("it does not close with that code");
        socket.close(code, reason);
      },
    });
  });
})();
