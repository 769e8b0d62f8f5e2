// The default paths that cnpd and cnpctl share.

export const CONFIG_FILE = '/etc/cnpd/cnpd.yaml';
export const RUN_DIR = '/run/cnpd';
export const GNMI_SOCKET = `${RUN_DIR}/gnmi.sock`;
/** What survives a reboot. */
export const STATE_DIR = '/var/lib/cnpd';

/** Where a cnpd keeps what survives a reboot, unless it is named: another run directory is another cnpd's. */
export const stateDirOf = (runDir: string): string | undefined => (runDir === RUN_DIR ? STATE_DIR : undefined);

/** The socket of gNMI Set, beside the one that reads: `gnmi.sock` and `gnmi-set.sock`. */
export const setSocketOf = (socket: string): string => socket.replace(/(\.[^./]*)?$/, '-set$1');

/** The socket on which the configuration is changed, for root alone: `gnmi-config.sock`. */
export const configSocketOf = (socket: string): string => socket.replace(/(\.[^./]*)?$/, '-config$1');

/** Name of the file in which `cnpctl clear counters` notes their values. */
export const CLEARED_COUNTERS = 'counters-cleared.json';
/** Beside the socket. */
export const clearedCountersOf = (socket: string): string => socket.replace(/[^/]*$/, CLEARED_COUNTERS);

/** Directory of recordings (model/recording.ts), in that of what survives a reboot, else in the run directory. */
export const recordingsOf = (directory: string): string => `${directory}/recordings`;
