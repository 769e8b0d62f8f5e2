// Where cnpd and cnpctl meet when nothing else is said.

export const CONFIG_FILE = '/etc/cnpd/cnpd.yaml';
export const RUN_DIR = '/run/cnpd';
export const GNMI_SOCKET = `${RUN_DIR}/gnmi.sock`;
