#!/usr/bin/env node
// runc, for a machine that has not every capability. Docker asks for all of them in a privileged container, and runc
// then refuses to start it. Here a container gets those that this process has itself.
import { spawnSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/** In the order of their numbers (capabilities(7)). */
const NAMES = [
  'CHOWN DAC_OVERRIDE DAC_READ_SEARCH FOWNER FSETID KILL SETGID SETUID SETPCAP LINUX_IMMUTABLE NET_BIND_SERVICE',
  'NET_BROADCAST NET_ADMIN NET_RAW IPC_LOCK IPC_OWNER SYS_MODULE SYS_RAWIO SYS_CHROOT SYS_PTRACE SYS_PACCT SYS_ADMIN',
  'SYS_BOOT SYS_NICE SYS_RESOURCE SYS_TIME SYS_TTY_CONFIG MKNOD LEASE AUDIT_WRITE AUDIT_CONTROL SETFCAP MAC_OVERRIDE',
  'MAC_ADMIN SYSLOG WAKE_ALARM BLOCK_SUSPEND AUDIT_READ PERFMON BPF CHECKPOINT_RESTORE',
].flatMap((line) => line.split(' '));

const bounding = BigInt(`0x${/^CapBnd:\s*(\S+)/m.exec(readFileSync('/proc/self/status', 'utf8'))[1]}`);
const here = new Set(NAMES.filter((_, i) => (bounding >> BigInt(i)) & 1n).map((name) => `CAP_${name}`));

/** @param pick the process in the file's content */
function limit(path, pick) {
  const content = JSON.parse(readFileSync(path, 'utf8'));
  const sets = pick(content).capabilities ?? {};
  for (const [set, names] of Object.entries(sets)) sets[set] = names.filter((name) => here.has(name));
  writeFileSync(path, JSON.stringify(content));
}

const args = process.argv.slice(2);
const after = (option) => args[args.indexOf(option) + 1];
if (args.includes('create') && args.includes('--bundle'))
  limit(join(after('--bundle'), 'config.json'), (config) => config.process);
if (args.includes('exec') && args.includes('--process')) limit(after('--process'), (added) => added);
process.exitCode = spawnSync('runc', args, { stdio: 'inherit' }).status ?? 1;
