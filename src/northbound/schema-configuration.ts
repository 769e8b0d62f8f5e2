// The container `configuration`: what Get and Set have of cnpd.yaml. A section is one leaf, any JSON.
import {
  CONFIG_SECTIONS,
  type ConfigField,
  type ConfigurationState,
  configField,
} from '../model/configuration-state.ts';
import { BOOLEAN, type ContainerShape, leaf } from './shape.ts';

const sections = Object.fromEntries(CONFIG_SECTIONS.map((name) => [configField(name), leaf('anyxml')])) as Record<
  ConfigField,
  ReturnType<typeof leaf>
>;

export const CONFIGURATION: ContainerShape<ConfigurationState> = {
  kind: 'container',
  fields: { persistent: BOOLEAN, ...sections },
};
