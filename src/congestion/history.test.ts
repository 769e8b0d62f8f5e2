import { describe, expect, test } from 'vitest';
import { sentNotification } from './sent-notification.fixture.ts';
import { HISTORY_LENGTH, NotificationHistory } from './history.ts';

describe('the latest notifications', () => {
  test('are listed newest first, up to a limit', () => {
    const history = new NotificationHistory();
    expect([...history.latest()]).toEqual([]);
    for (let i = 0; i < HISTORY_LENGTH + 10; i++) history.add(sentNotification({ atNs: BigInt(i) }));
    const latest = [...history.latest()];
    expect(latest.map(({ sent }) => Number(sent.atNs))).toEqual(
      Array.from({ length: HISTORY_LENGTH }, (_, i) => HISTORY_LENGTH + 9 - i),
    );
    expect(latest.filter(({ sequence, sent }) => sequence !== Number(sent.atNs) + 1)).toEqual([]);
  });
});
