import { getHeapSpaceStatistics, setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

import { describe, expect, it } from '@jest/globals';
import { Command } from 'ioredis';

import { keepCommandsYoung } from './young-commands.ts';

keepCommandsYoung();

const BATCHES = 20;
const PER_BATCH = 200;
/** Limit of the bytes by which the old generation grows per command; a command that is kept takes far more. */
const FREED_BYTES = 250;

function oldBytes(): number {
  return getHeapSpaceStatistics().find(({ space_name: name }) => name === 'old_space')!.space_used_size;
}

describe('a command', () => {
  it('is freed by collections of the young generation once it is settled', async () => {
    setFlagsFromString('--expose-gc');
    const gc = runInNewContext('gc') as (options: { readonly type: 'minor' | 'major' }) => void;
    const settle = async (): Promise<void> => {
      for (let index = 0; index < PER_BATCH; index += 1) {
        const command = new Command('get', [`key-${index}`], { replyEncoding: 'utf8' });
        command.resolve(Buffer.from('value'));
        await command.promise;
      }
      // An object moves to the old generation at the second minor collection that it survives.
      gc({ type: 'minor' });
      gc({ type: 'minor' });
    };
    for (let batch = 0; batch < BATCHES; batch += 1) await settle();
    gc({ type: 'major' });
    const before = oldBytes();

    for (let batch = 0; batch < BATCHES; batch += 1) await settle();

    expect((oldBytes() - before) / (BATCHES * PER_BATCH)).toBeLessThan(FREED_BYTES);
  });

  it('has the reply or the error that it is settled with', async () => {
    const answered = new Command('get', ['key'], { replyEncoding: 'utf8' });
    const refused = new Command('get', ['key']);
    answered.resolve(Buffer.from('value'));
    refused.reject(new Error('refused'));

    await expect(answered.promise).resolves.toBe('value');
    await expect(refused.promise).rejects.toThrow('refused');
    expect([answered, refused].map((command) => (command as unknown as { isSettled: boolean }).isSettled)).toEqual([
      true,
      true,
    ]);
  });

  it('has its arguments transformed once, also if it is sent again', () => {
    const command = new Command('hset', ['key', { field: 1 }] as never);
    (command as unknown as { initPromise: () => void }).initPromise();

    expect(command.args).toEqual(['key', 'field', '1']);
  });

  it('calls back, if it was given a function', async () => {
    const replies: unknown[] = [];
    const command = new Command('get', ['key'], { replyEncoding: 'utf8' }, (_error, reply) => replies.push(reply));
    command.resolve(Buffer.from('value'));
    await command.promise;

    expect(replies).toEqual(['value']);
  });
});
