// Lets scapy, which Debian installs for the system's Python, do what our codecs do. It takes half a second to load: one
// Python of this process has loaded it, and forks for each batch, so that none sees what another has changed.
import { spawn, spawnSync } from 'node:child_process';
import { constants, mkdtempSync, openSync, readSync, rmSync, writeSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const LIMIT_MS = 50_000;
const NEW_LINE = 10;

/** Answers each line with one; ends with the process that writes them. */
const SERVER = `
import json, os, sys, logging, traceback
logging.getLogger("scapy.runtime").setLevel(logging.ERROR)
import scapy.all
out = os.open(sys.argv[2], os.O_WRONLY)
def answer(value):
    text = (json.dumps(value) + "\\n").encode()
    while text: text = text[os.write(out, text):]
questions = open(sys.argv[1])
answer([True, "ready"])
for line in questions:
    pid = os.fork()
    if pid == 0:
        try:
            program, data = json.loads(line)
            names = {"data": data, "result": None}
            exec(program, names)
            answer([True, names["result"]])
        except BaseException:
            answer([False, traceback.format_exc()])
        os._exit(0)
    status = os.waitpid(pid, 0)[1]
    if status != 0: answer([False, f"ended with status {status}"])
`;

interface Server {
  readonly questions: number;
  readonly answers: number;
}

let server: Server | undefined;

function start(): Server {
  const directory = mkdtempSync(join(tmpdir(), 'cnpd-scapy-'));
  try {
    const paths = ['questions', 'answers'].map((name) => join(directory, name));
    const made = spawnSync('mkfifo', paths, { encoding: 'utf8' });
    if (made.status !== 0) throw new Error(`mkfifo: ${made.error?.message ?? made.stderr}`);
    // For reading and writing: to open a FIFO does not wait for the other side then.
    const [questions, answers] = paths.map((path) => openSync(path, constants.O_RDWR | constants.O_NONBLOCK)) as [
      number,
      number,
    ];
    const child = spawn('/usr/bin/python3', ['-c', SERVER, ...paths], { stdio: ['ignore', 'ignore', 'inherit'] });
    // That it does not start is known at once, and told here.
    child.on('error', () => undefined).unref();
    if (child.pid === undefined) throw new Error('scapy: /usr/bin/python3 does not start');
    nextLine({ questions, answers });
    return { questions, answers };
  } finally {
    rmSync(directory, { recursive: true });
  }
}

const pause = new Int32Array(new SharedArrayBuffer(4));

/** Does it when the other side lets it. @throws Error when that takes too long: no Python, no scapy */
function soon(act: () => number): number {
  for (const end = performance.now() + LIMIT_MS; performance.now() < end; Atomics.wait(pause, 0, 0, 2))
    try {
      return act();
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EAGAIN') throw error;
    }
  throw new Error(`scapy: no answer within ${LIMIT_MS} ms`);
}

function nextLine({ answers }: Server): string {
  const buffer = Buffer.alloc(1 << 16);
  const parts: Buffer[] = [];
  do
    parts.push(
      Buffer.from(
        buffer.subarray(
          0,
          soon(() => readSync(answers, buffer)),
        ),
      ),
    );
  while (parts.at(-1)!.at(-1) !== NEW_LINE);
  return Buffer.concat(parts).toString();
}

function ask({ questions, answers }: Server, question: Buffer): string {
  for (let sent = 0; sent < question.length;) sent += soon(() => writeSync(questions, question, sent));
  return nextLine({ questions, answers });
}

/** `program` finds its input in `data` and leaves its answer in `result`. */
export function scapy<T>(program: string, data: unknown): T {
  const asked = server ?? start();
  // Whose answer may still come is not asked again.
  server = undefined;
  const [ok, answer] = JSON.parse(ask(asked, Buffer.from(`${JSON.stringify([program, data])}\n`))) as [boolean, T];
  server = asked;
  if (!ok) throw new Error(`scapy: ${String(answer)}`);
  return answer;
}
