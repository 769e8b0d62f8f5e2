// A file that the command line names and that cannot be used: no cnpd was asked.
export class FileError extends Error {
  constructor(message: string) {
    super(message);
    this.name = 'FileError';
  }
}
