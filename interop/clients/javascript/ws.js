// node ws.js URL plain|deflate
import readline from "node:readline";
import { WebSocket } from "ws";
import "./checks.js";

const [url, mode] = process.argv.slice(2);

const parts = (bytes, count) => {
  const size = Math.ceil(bytes.length / count);
  return Array.from({ length: count }, (_, i) => bytes.subarray(i * size, (i + 1) * size));
};

const connect = () => new Promise((resolve, reject) => {
  const inbox = new Inbox();
  const socket = new WebSocket(url, { perMessageDeflate: mode === "deflate" && { threshold: 0 } });
  socket.on("error", reject);
  socket.on("message", (bytes, isBinary) =>
    inbox.push({ type: isBinary ? "binary" : "text", bytes }));
  socket.on("close", (code, reason) =>
    inbox.push({ type: "close", code, reason: reason.toString() }));
  socket.on("open", () => resolve({
    receive: () => inbox.next(),
    send(type, bytes, fragments) {
      parts(bytes, fragments).forEach((part, i) =>
        socket.send(part, { binary: type === "binary", fin: i === fragments - 1 }));
    },
    ping: (bytes) => new Promise((pong, fail) => {
      socket.once("pong", (answer) =>
        (Buffer.compare(answer, bytes) === 0 ? pong() : fail(new Error("another pong"))));
      socket.ping(bytes);
    }),
    close(code, reason) { socket.close(code, reason); },
  }));
});

const lines = [];
for await (const line of readline.createInterface({ input: process.stdin })) lines.push(line);
await new Checks(url, connect, console.log).run(lines);
