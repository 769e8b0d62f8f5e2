// The configuration as gNMI serves it: the sections of cnpd.yaml as JSON.

/** The sections of cnpd.yaml. */
export const CONFIG_SECTIONS = [
  'router',
  'isis',
  'ospfv2',
  'ospfv3',
  'bgp',
  'proxy',
  'source',
  'flow-control',
  'queue-pairs',
  'ports',
  'border-ports',
  'border-allow',
  'notifications',
  'srv6',
  'groups',
  'stamp',
  'code-points',
  'gnmi',
  'metrics',
  'northbound',
  'log',
] as const;

export type ConfigSection = (typeof CONFIG_SECTIONS)[number];

type Camel<S extends string> = S extends `${infer A}-${infer B}` ? `${A}${Capitalize<Camel<B>>}` : S;
export type ConfigField = Camel<ConfigSection>;

export const configField = (section: ConfigSection): ConfigField =>
  section.replace(/-([a-z0-9])/g, (_, letter: string) => letter.toUpperCase()) as ConfigField;

/** Any JSON, as text: a large section is encoded once, however often it is asked for. */
export class JsonText {
  readonly text: string;

  constructor(value: unknown) {
    this.text = JSON.stringify(value);
  }
}

/** `persistent`: a restart comes up with it. The sections are JsonText; absent ones are not in force. */
export type ConfigurationState = { persistent: boolean } & { [K in ConfigField]?: unknown };
