// A reliable connection in a guest by its verbs library. The test hands the Queue Pairs over, so that a connection can
// be directed at any address and Queue Pair: at a peer, or at a group's Proxy Address and Designated Queue Pair.
import { until } from '../support/until.ts';
import type { Guest, GuestResult } from '../guests/guest.ts';

interface Queue {
  /** GID of this end, an address of the guest. */
  readonly address: string;
  readonly psn: number;
  readonly messages: number;
  /** Octets of a message. */
  readonly size: number;
  /** WRITEs are followed by a SEND that says that all are there. */
  readonly operation: 'send' | 'write';
  /** Bits of the traffic class: 2 is ECT(0). */
  readonly trafficClass?: number;
  readonly pathMtu?: 256 | 512 | 1024;
  /** Messages under way; default 64. */
  readonly window?: number;
  /** Queue Pair numbers to leave out: else the stacks, which all begin alike, would have the same ones. */
  readonly skip?: number;
}

interface Peer {
  readonly address: string;
  readonly qpn: number;
  readonly psn: number;
  /** Of its memory, for WRITE: an address in that. */
  readonly memory?: number;
  readonly rKey?: number;
}

export interface Opened {
  readonly qpn: number;
  readonly memory: number;
  readonly rKey: number;
}

export interface Transferred {
  /** Messages completed, or received. */
  readonly messages: number;
  /** Of the memory after the transfer. */
  readonly sha256: string;
  readonly seconds: number;
  /** Of completions that failed. */
  readonly errors: readonly string[];
}

type End = (limitMs?: number) => Promise<GuestResult>;

export class Connection {
  readonly #guest: Guest;
  readonly #name: string;
  readonly #end: End;
  readonly opened: Opened;

  private constructor(guest: Guest, name: string, end: End, opened: Opened) {
    this.#guest = guest;
    this.#name = name;
    this.#end = end;
    this.opened = opened;
  }

  /** Makes the Queue Pair. */
  static async open(guest: Guest, role: 'source' | 'receiver', queue: Queue): Promise<Connection> {
    const name = `${role}${Date.now()}`;
    const end = guest.begin(`python3 - <<'END'
import json
given = json.loads(${JSON.stringify(JSON.stringify({ ...queue, role, name }))})
${PROGRAM}
END`);
    const opened = await until('the Queue Pair', () => line<Opened>(guest, 'opened'), 120_000);
    return new Connection(guest, name, end, opened);
  }

  /** Brings it to RTS; a receiver then waits for messages, a source for start(). */
  async connect(peer: Peer): Promise<void> {
    this.#guest.leave(`${this.#name}.peer`, JSON.stringify(peer));
    await until('the Queue Pair is ready', () => line(this.#guest, 'ready'), 120_000);
  }

  /** A source begins to send, and rests after so many messages until it may send more. */
  start(messages = Number.MAX_SAFE_INTEGER): void {
    this.#guest.leave(`${this.#name}.go`, `${messages}`);
  }

  /** Messages completed, or received, so far. */
  get progress(): number {
    return lines<number>(this.#guest.outputSoFar(), 'progress').at(-1) ?? 0;
  }

  /** Waits for the end of the transfer. @throws Error with the output of the program when it fails */
  async done(limitMs = 240_000): Promise<Transferred> {
    const { status, output } = await this.#end(limitMs);
    const found = lines<Transferred>(output, 'done')[0];
    if (status !== 0 || !found) throw new Error(`exit code ${status}: ${output}`);
    return found;
  }
}

/** The values of this key; a line that is not yet whole does not count. */
const lines = <T>(output: string, key: string): T[] =>
  output
    .slice(0, output.lastIndexOf('\n') + 1)
    .split('\n')
    .filter((one) => one.startsWith(`${key} `))
    .map((one) => JSON.parse(one.slice(key.length + 1)) as T);
const line = <T>(guest: Guest, key: string): T | undefined => lines<T>(guest.outputSoFar(), key)[0];

const PROGRAM = `
import hashlib, ipaddress, os, sys, time
import pyverbs.enums as e
from pyverbs.addr import AHAttr, GID, GlobalRoute
from pyverbs.cq import CQ
from pyverbs.device import Context
from pyverbs.mr import MR
from pyverbs.pd import PD
from pyverbs.qp import QP, QPAttr, QPCap, QPInitAttr
from pyverbs.wr import SGE, RecvWR, SendWR

def say(key, value):
    print(key, json.dumps(value), flush=True)

def wait_for(name):
    path = '/mnt/%s.%s' % (given['name'], name)
    while not os.path.exists(path):
        time.sleep(0.05)
    return open(path).read()

def gid_index(address):
    wanted = ipaddress.ip_address(address).exploded
    folder = '/sys/class/infiniband/rxe0/ports/1/gids/'
    for index in sorted(os.listdir(folder), key=int):
        if open(folder + index).read().strip() == wanted:
            return int(index)
    raise SystemExit('no GID %s' % wanted)

source = given['role'] == 'source'
size, messages = given['size'], given['messages']
window = given.get('window', 64)
context = Context(name='rxe0')
domain = PD(context)
queue = CQ(context, 4 * window + 16)
access = e.IBV_ACCESS_LOCAL_WRITE | e.IBV_ACCESS_REMOTE_WRITE
# One more: the SEND behind WRITEs goes there, and not over what they have written.
memory = MR(domain, size * (messages + 1), access)
if source:
    content = b''.join(hashlib.sha512(b'%d' % i).digest() for i in range(size * messages // 64 + 1))
    memory.write(content[:size * messages], size * messages)
sizes = QPCap(max_send_wr=window + 2, max_recv_wr=messages + 2, max_send_sge=1, max_recv_sge=1)
first = QPInitAttr(qp_type=e.IBV_QPT_RC, scq=queue, rcq=queue, sq_sig_all=1, cap=sizes)
*skipped, pair = [QP(domain, first) for _ in range(given.get('skip', 0) + 1)]
say('opened', {'qpn': pair.qp_num, 'memory': memory.buf, 'rKey': memory.rkey})

peer = json.loads(wait_for('peer'))
route = GlobalRoute(dgid=GID(ipaddress.ip_address(peer['address']).exploded), sgid_index=gid_index(given['address']),
                    hop_limit=64, traffic_class=given.get('trafficClass', 0))
attributes = QPAttr(port_num=1)
attributes.qp_access_flags = access
attributes.dest_qp_num = peer['qpn']
attributes.path_mtu = {256: e.IBV_MTU_256, 512: e.IBV_MTU_512, 1024: e.IBV_MTU_1024}[given.get('pathMtu', 1024)]
attributes.rq_psn, attributes.sq_psn = peer['psn'], given['psn']
attributes.ah_attr = AHAttr(gr=route, is_global=1, port_num=1)
attributes.min_rnr_timer, attributes.timeout, attributes.retry_cnt, attributes.rnr_retry = 12, 18, 7, 7
attributes.max_rd_atomic = attributes.max_dest_rd_atomic = 1
write = given['operation'] == 'write'
def part(i):
    return [SGE(memory.buf + i * size, size, memory.lkey)]
expected = 1 if write else messages
pair.to_rts(attributes)
if not source:
    for i in range(expected):
        pair.post_recv(RecvWR(wr_id=i, sg=part(messages if write else i), num_sge=1))
say('ready', True)
errors, completed, posted = [], 0, 0
allowed = int(wait_for('go')) if source else 0
begun = time.monotonic()
total = messages + (1 if write else 0) if source else expected
while completed < total and not errors:
    if source and completed == allowed:
        allowed = int(wait_for('go'))
    while source and posted < min(total, allowed) and posted - completed < window:
        last = write and posted == messages
        request = SendWR(wr_id=posted, sg=part(posted), num_sge=1,
                         opcode=e.IBV_WR_RDMA_WRITE if write and not last else e.IBV_WR_SEND)
        if write and not last:
            request.set_wr_rdma(peer['rKey'], peer['memory'] + posted * size)
        pair.post_send(request)
        posted += 1
    count, found = queue.poll(16)
    for one in found:
        completed += 1
        if completed % 32 == 0:
            say('progress', completed)
        if one.status != e.IBV_WC_SUCCESS:
            errors.append('status %d' % one.status)
    if count == 0:
        time.sleep(0.0005)
digest = hashlib.sha256(memory.read(size * messages, 0)).hexdigest()
say('done', {'messages': completed, 'sha256': digest, 'seconds': time.monotonic() - begun, 'errors': errors})
`;
