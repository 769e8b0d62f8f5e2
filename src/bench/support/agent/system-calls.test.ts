import { expect, test } from 'vitest';
import { stateChanges, tally } from './system-calls.ts';

const TRACE = `1 10.5 bpf(BPF_MAP_LOOKUP_ELEM, {map_fd=51}, 32) = 0
1 10.6 bpf(BPF_MAP_UPDATE_BATCH, {batch={count=938, map_fd=51}}, 56) = 0
2 10.7 sendto(22, [{nlmsg_len=60, nlmsg_type=RTM_NEWLINK, nlmsg_flags=NLM_F_REQUEST}, {ifi_family=AF_UNSPEC}], 60) = 60
2 10.8 sendto(22, [{nlmsg_len=60, nlmsg_type=RTM_GETLINK, nlmsg_flags=NLM_F_REQUEST}, {ifi_family=AF_UNSPEC}], 60) = 60
1 10.9 bpf(BPF_PROG_LOAD, {prog_type=BPF_PROG_TYPE_SCHED_CLS}, 128) = 57
1 11.0 bpf(BPF_OBJ_GET, {pathname="/run/x"}, 24) = 5
1 11.1 mount("bpf", "/run/cnpd/bpf", "bpf", 0, "") = 0
1 11.2 bpf(BPF_PROG_TEST_RUN, {prog_fd=4}, 80) = 0
1 11.3 setns(25, CLONE_NEWNET) = 0
`;

test('writes count, reads do not', () => {
  const calls = stateChanges(TRACE);
  expect(tally(calls)).toBe('bpf MAP_UPDATE_BATCH 1, netlink RTM_NEWLINK 1, bpf PROG_LOAD 1, mount 1');
  expect(calls[0]!.at).toBe(10.6);
  expect(tally([])).toBe('none');
});
