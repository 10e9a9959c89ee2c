// node undici.js URL
import readline from "node:readline";
import { WebSocket } from "undici";
import "./checks.js";
import "./websocket_api.js";

const lines = [];
for await (const line of readline.createInterface({ input: process.stdin })) lines.push(line);
await new Checks(process.argv[2], connectWith(WebSocket), console.log).run(lines);
