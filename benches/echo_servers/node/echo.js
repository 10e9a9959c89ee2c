// An echo server of ws: `node echo.js PORT [batched]`. Natural is a `send` for each message; batched,
// the socket is corked until all of what one read brought is answered.
const { WebSocketServer } = require("ws");

const isBatched = process.argv[3] === "batched";
const server = new WebSocketServer({
  host: "127.0.0.1", port: Number(process.argv[2]), perMessageDeflate: false,
});

server.on("connection", (peer, request) => {
  const { socket } = request;
  let isCorked = false;
  peer.on("error", () => {});
  peer.on("message", (data, isBinary) => {
    if (isBatched && !isCorked) {
      isCorked = true;
      socket.cork();
      process.nextTick(() => {
        isCorked = false;
        socket.uncork();
      });
    }
    peer.send(data, { binary: isBinary });
  });
});
