// Levels of the log, for all of cnpd and by component.
import type { Result } from './result.ts';

export const LOG_LEVELS = ['debug', 'info', 'warn', 'error'] as const;
export type LogLevel = (typeof LOG_LEVELS)[number];

/** Each line of the log names one. */
export const LOG_COMPONENTS = [
  'bgp',
  'congestion',
  'daemon',
  'flow-control',
  'isis',
  'kernel',
  'metrics',
  'northbound',
  'ospfv2',
  'ospfv3',
  'problems',
  'reconcile',
  'source',
  'stamp',
] as const;
export type LogComponent = (typeof LOG_COMPONENTS)[number];

/** What the level of a component is set to: at run time, or by the file. */
export interface ComponentLevel {
  readonly component: LogComponent;
  readonly level: LogLevel;
  /** It was set at run time; else it is `log.level` of the file. */
  readonly isSet: boolean;
}

/** `level: 'file'`: that of the file again. As a client wrote it. */
export interface LevelChange {
  readonly component: string;
  readonly level: string;
}

/** Makes all changes or, with an error, none. Without changes it only answers. */
export type ChangeLevels = (changes: readonly LevelChange[]) => Result<readonly ComponentLevel[], string>;

const ALL = 'all';
const AS_FILE = 'file';
/** Every change, as `cnpctl log` takes it: `isis=debug`. */
export const LOG_CHANGES: readonly string[] = [ALL, ...LOG_COMPONENTS].flatMap((component) =>
  [...LOG_LEVELS, AS_FILE].map((level) => `${component}=${level}`),
);
const isOf = <T extends string>(words: readonly T[], word: string): word is T =>
  (words as readonly string[]).includes(word);

/** The levels that are set at run time; they last until the end of the process. */
export class LogLevels {
  readonly #set = new Map<LogComponent, LogLevel>();
  readonly #apply: (component: LogComponent, level: LogLevel) => void;
  #ofFile: LogLevel;

  /** @param apply is told the level of a component when it changes */
  constructor(ofFile: LogLevel, apply: (component: LogComponent, level: LogLevel) => void) {
    this.#ofFile = ofFile;
    this.#apply = apply;
  }

  levelOf(component: LogComponent): LogLevel {
    return this.#set.get(component) ?? this.#ofFile;
  }

  /** The file has another level. What was set at run time stays. */
  follow(ofFile: LogLevel): void {
    this.#ofFile = ofFile;
    for (const component of LOG_COMPONENTS) this.#apply(component, this.levelOf(component));
  }

  readonly change: ChangeLevels = (changes) => {
    for (const { component, level } of changes) {
      if (component !== ALL && !isOf(LOG_COMPONENTS, component))
        return { ok: false, error: `no component ${component}: there are ${[ALL, ...LOG_COMPONENTS].join(', ')}` };
      if (level !== AS_FILE && !isOf(LOG_LEVELS, level))
        return { ok: false, error: `no level ${level}: there are ${[...LOG_LEVELS, AS_FILE].join(', ')}` };
    }
    for (const change of changes) this.#make(change);
    return { ok: true, value: this.list() };
  };

  list(): ComponentLevel[] {
    return LOG_COMPONENTS.map((component) => ({
      component,
      level: this.levelOf(component),
      isSet: this.#set.has(component),
    }));
  }

  #make({ component: name, level }: LevelChange): void {
    for (const component of LOG_COMPONENTS) {
      if (name !== ALL && name !== component) continue;
      if (level === AS_FILE) this.#set.delete(component);
      else this.#set.set(component, level as LogLevel);
      this.#apply(component, this.levelOf(component));
    }
  }
}
