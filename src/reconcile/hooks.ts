// Implements HookKernel (attachments.ts) with TCX links that are pinned in one directory.
import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { makePinDirectory } from '../kernel/bpf/bpffs.ts';
import type { BpfProgram } from '../kernel/bpf/program.ts';
import { attachTcx, detachPinnedLink, pinnedLinkTarget } from '../kernel/bpf/tcx.ts';
import type { Attachment, HookKernel } from './attachments.ts';

/** `programOf` throws when the program's object is not loaded. */
export function pinnedHooks(
  { bpfDir, linksDir }: { readonly bpfDir: string; readonly linksDir: string },
  programOf: (name: string) => BpfProgram,
): HookKernel {
  // Repeated before each use, since another program may have unmounted the file system.
  const makeLinksDir = (): void => makePinDirectory(bpfDir, linksDir);
  makeLinksDir();
  const pathOf = (pin: string): string => join(linksDir, pin);
  return {
    attach: (desired, pin) => {
      makeLinksDir();
      const link = attachTcx({
        program: programOf(desired.program),
        ifindex: desired.ifindex,
        direction: desired.direction,
        first: desired.first,
        pinPath: pathOf(pin),
      });
      const restorePin = ({ ifindex, direction }: Attachment): boolean => {
        if (existsSync(pathOf(pin)) || !link.hangsAt(ifindex, direction)) return false;
        makeLinksDir();
        link.pin();
        return true;
      };
      return { detach: () => link.detach(), close: () => link.close(), restorePin };
    },
    attached: (desired, pin) => {
      const target = pinnedLinkTarget(pathOf(pin));
      return target !== undefined && target.ifindex === desired.ifindex && target.direction === desired.direction;
    },
    pins: () => (existsSync(linksDir) ? readdirSync(linksDir) : []),
    remove: (pin) => detachPinnedLink(pathOf(pin)),
  };
}
