// The default paths on which cnpd and cnpctl meet.

export const CONFIG_FILE = '/etc/cnpd/cnpd.yaml';
export const RUN_DIR = '/run/cnpd';
export const GNMI_SOCKET = `${RUN_DIR}/gnmi.sock`;
