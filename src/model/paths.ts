// The default paths that cnpd and cnpctl share.

export const CONFIG_FILE = '/etc/cnpd/cnpd.yaml';
export const RUN_DIR = '/run/cnpd';
export const GNMI_SOCKET = `${RUN_DIR}/gnmi.sock`;
