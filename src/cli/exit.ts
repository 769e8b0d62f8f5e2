// Exit codes of cnpctl, documented in docs/reference/cli.md.
export const EXIT = {
  /** Done; nothing wrong. */
  ok: 0,
  /** Done, but something is not right: degraded, no proxy, a precondition missing, something left behind. */
  problem: 1,
  /** The command line is wrong, or a file that it names cannot be used. */
  usage: 2,
  /** `plan` and `diff`: something would change. */
  differs: 2,
  /** cnpd does not answer. */
  unreachable: 3,
  /** cnpd refused (a reload with a broken file, a path it does not have), or something failed that should not. */
  error: 4,
} as const;

export type ExitCode = (typeof EXIT)[keyof typeof EXIT];
