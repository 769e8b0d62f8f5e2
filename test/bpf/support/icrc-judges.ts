// Other computations of the ICRC than ours, in Python. Packets begin with their IP header and end with their ICRC, in
// hexadecimal; so are the answers.
import { scapy } from '../../support/scapy.ts';

/** scapy's own; it knows IPv4 only. */
export const scapyIcrc = (packet: string): string =>
  scapy(
    'from scapy.all import IP, raw\nfrom scapy.contrib.roce import BTH\np = IP(bytes.fromhex(data))\n' +
      'p[BTH].icrc = None\nresult = raw(p).hex()[-8:]',
    packet,
  );

/**
 * The definition over IPv6, bit by bit. `udp` is where the UDP header begins: what is before it behind the IPv6 header
 * counts as it is.
 */
export const icrcByHand = (packet: string, udp = 40): string =>
  scapy(
    `p, udp = bytearray(bytes.fromhex(data["packet"]))[:-4], data["udp"]
p[0:4] = b'\\x6f\\xff\\xff\\xff'; p[7] = 255; p[udp + 6:udp + 8] = b'\\xff\\xff'; p[udp + 12] = 255
c = 0xffffffff
for byte in b'\\xff' * 8 + p:
    c ^= byte
    for _ in range(8): c = (c >> 1) ^ (0xedb88320 if c & 1 else 0)
result = (c ^ 0xffffffff).to_bytes(4, 'little').hex()`,
    { packet, udp },
  );
