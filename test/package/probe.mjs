// A probe of 1 kHz through a router, as RoCEv2 packets with numbers. `probe.mjs send ADDRESS REPORT` sends until
// SIGTERM, and what a busy machine made late is sent at once. `probe.mjs receive REPORT` counts. Reports are JSON.
import { createSocket } from 'node:dgram';
import { writeFileSync } from 'node:fs';

const PORT = 4791;
const EVERY_MS = 1;
/** Base Transport Header: SEND only, a Queue Pair, the number as PSN; then an empty ICRC. */
const LENGTH = 16;
const PSN = 8;

const [role, ...args] = process.argv.slice(2);

function send(address, report) {
  const socket = createSocket('udp6');
  const packet = Buffer.alloc(LENGTH);
  packet[0] = 0x04;
  packet[7] = 0x11;
  const start = performance.now();
  let sent = 0;
  const timer = setInterval(() => {
    for (const due = (performance.now() - start) / EVERY_MS; sent < due; sent++) {
      const one = Buffer.from(packet);
      one.writeUInt32BE(sent, PSN);
      socket.send(one, PORT, address);
    }
  }, EVERY_MS);
  process.on('SIGTERM', () => {
    clearInterval(timer);
    const seconds = (performance.now() - start) / 1000;
    socket.close(() => writeFileSync(report, JSON.stringify({ sent, seconds })));
  });
}

function receive(report) {
  const seen = new Set();
  const socket = createSocket({ type: 'udp6', recvBufferSize: 1 << 20 });
  socket.on('message', (packet) => seen.add(packet.readUInt32BE(PSN)));
  socket.bind(PORT, () => setInterval(() => writeFileSync(report, JSON.stringify({ received: seen.size })), 100));
}

if (role === 'send') send(...args);
else receive(...args);
