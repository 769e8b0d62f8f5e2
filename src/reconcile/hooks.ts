// The hooks of interfaces as attachments.ts wants them, made of kernel's TCX links, pinned in one directory.
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
  // Each time: somebody may have unmounted the file system.
  const makeLinksDir = (): void => makePinDirectory(bpfDir, linksDir);
  makeLinksDir();
  const pathOf = (pin: string): string => join(linksDir, pin);
  return {
    attach: (wanted, pin) => {
      makeLinksDir();
      const link = attachTcx({
        program: programOf(wanted.program),
        ifindex: wanted.ifindex,
        direction: wanted.direction,
        first: wanted.first,
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
    attached: (wanted, pin) => {
      const target = pinnedLinkTarget(pathOf(pin));
      return target !== undefined && target.ifindex === wanted.ifindex && target.direction === wanted.direction;
    },
    pins: () => (existsSync(linksDir) ? readdirSync(linksDir) : []),
    remove: (pin) => detachPinnedLink(pathOf(pin)),
  };
}
