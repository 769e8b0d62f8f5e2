// The device where this router replicates as a root (kernel/netlink/tree-device.ts): it is there while a head end is.
import { MULTICAST_PROGRAMS } from '../../kernel/dataplane/multicast.ts';
import type { TreeDevices } from '../../kernel/netlink/tree-device.ts';
import type { TreeRoutes } from '../../kernel/netlink/tree-routes.ts';
import { messageOf } from '../../model/error-text.ts';
import type { Count, Log } from '../../model/log.ts';
import { TREE_DEVICE, TREE_DEVICE_PEER } from '../../model/tree-device.ts';
import { type Attachment, attachment } from '../attachments.ts';
import type { ObjectStatus } from '../operations.ts';

interface RootDeviceOptions {
  readonly devices: Pick<TreeDevices, 'ensure' | 'find' | 'remove'>;
  readonly routes: Pick<TreeRoutes, 'removeRule'>;
  readonly count: Count;
  readonly log: Log;
}

/** @param device interface indexes of its two ends */
export const rootAttachments = (device: { readonly outer: number; readonly inner: number }): Attachment[] => [
  attachment(MULTICAST_PROGRAMS.entry, { interface: TREE_DEVICE_PEER, ifindex: device.inner }, 'egress', true),
  attachment(MULTICAST_PROGRAMS.root, { interface: TREE_DEVICE, ifindex: device.outer }, 'egress', true),
];

export class RootDevice {
  readonly #options: RootDeviceOptions;
  /** Why there is none, if one is needed. */
  #error: string | undefined;

  constructor(options: RootDeviceOptions) {
    this.#options = options;
  }

  /**
   * Makes the device when it is needed, since only its index says where the program is attached. `mayForget`: that of
   * an earlier run is left alone.
   */
  attachments(isNeeded: boolean, mayForget: boolean): readonly Attachment[] {
    const { devices } = this.#options;
    this.#error = undefined;
    try {
      const device = isNeeded ? devices.ensure() : mayForget ? undefined : devices.find();
      return device ? rootAttachments(device) : [];
    } catch (error) {
      this.#failed(error);
      return [];
    }
  }

  remove(): void {
    const { devices, routes, log } = this.#options;
    try {
      routes.removeRule(TREE_DEVICE);
      if (devices.remove()) log.info({ device: TREE_DEVICE }, 'removed');
    } catch (error) {
      this.#failed(error);
    }
  }

  #failed(error: unknown): void {
    this.#error = messageOf(error);
    this.#options.count('reconcile.tree-device.failed');
  }

  /** What cannot be done, for `cnpctl show status`. */
  status(): ObjectStatus[] {
    return this.#error === undefined ? [] : [{ id: TREE_DEVICE, state: 'failed', attempts: 1, error: this.#error }];
  }
}
