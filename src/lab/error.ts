// The errors of a lab, with a code for the command line and the tests.

type LabErrorCode =
  | 'bad-topology' // the file cannot be read, or describes what this lab cannot do
  | 'already-up'
  | 'not-up'
  | 'no-such-node'
  | 'command-failed' // a program that sets the lab up, or one of the file's `exec` lines
  | 'helper-failed' // a process of the lab's own (the delay line)
  | 'processes-remain'; // down could not end everything

export class LabError extends Error {
  readonly code: LabErrorCode;
  constructor(code: LabErrorCode, message: string) {
    super(message);
    this.name = 'LabError';
    this.code = code;
  }
}
