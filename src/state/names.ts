// Converts the programs' interface indexes and times to the northbound's names and dates.
import { kernelTime } from '../model/wall-time.ts';
import type { Facts } from '../plan/facts.ts';

export interface Names {
  readonly port: (ifindex: number) => string;
  /** CLOCK_MONOTONIC nanoseconds of a program as a time of day. */
  readonly timeOfDay: (ns: bigint) => string;
}

export function namesOf({ links }: Pick<Facts, 'links'>): Names {
  const names = new Map(links.map((link) => [link.ifindex, link.name]));
  // An interface that no longer exists is shown by its index.
  return { port: (ifindex) => names.get(ifindex) ?? `#${ifindex}`, timeOfDay };
}

export const timeOfDay = (ns: bigint): string => kernelTime.iso(Number(ns) / 1e6);
