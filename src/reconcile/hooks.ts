// The hooks of interfaces as attachments.ts wants them, made of the kernel room's TCX links pinned in one directory.
import { existsSync, mkdirSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import type { BpfProgram } from '../kernel/bpf/program.ts';
import { attachTcx, detachPinnedLink, pinnedLinkTarget } from '../kernel/bpf/tcx.ts';
import type { Attachment, HookKernel } from './attachments.ts';

/** `programOf` throws when the program's object is not loaded. */
export function pinnedHooks(linksDir: string, programOf: (name: string) => BpfProgram): HookKernel {
  mkdirSync(linksDir, { recursive: true, mode: 0o700 });
  const pathOf = (pin: string): string => join(linksDir, pin);
  return {
    attach: (wanted, pin) => {
      mkdirSync(linksDir, { recursive: true, mode: 0o700 });
      const link = attachTcx({
        program: programOf(wanted.program),
        ifindex: wanted.ifindex,
        direction: wanted.direction,
        first: wanted.first,
        pinPath: pathOf(pin),
      });
      const restorePin = ({ ifindex, direction }: Attachment): boolean => {
        if (existsSync(pathOf(pin)) || !link.hangsAt(ifindex, direction)) return false;
        mkdirSync(linksDir, { recursive: true, mode: 0o700 });
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
