import { escapeText, type NameLookup } from '@vantage/contract';

export interface HopNames {
  /** Starts the look-up of an address, unless it was started before. */
  readonly ask: (address: string) => void;
  /** The name as far as it is known by now. */
  readonly known: (address: string) => string | null;
  /** Resolves once every look-up is answered, or after the time. */
  readonly settled: (timeoutMs: number) => Promise<void>;
}

/** Names are shown for so many addresses; more would not fit a result. */
const MAX_NAMES = 96;

/** Looks the PTR names of hops up, side by side. A look-up that fails is a hop without a name. */
export function hopNames({ reverse }: Pick<NameLookup, 'reverse'>, signal: AbortSignal): HopNames {
  const names = new Map<string, string | null>();
  const pending = new Set<Promise<void>>();
  const over = new AbortController();
  const either = AbortSignal.any([signal, over.signal]);

  const ask = (address: string): void => {
    if (names.has(address) || names.size >= MAX_NAMES) return;
    names.set(address, null);
    const look = reverse(address, either).then(
      ([name]) => {
        if (name !== undefined) names.set(address, escapeText(name, 253));
        pending.delete(look);
      },
      () => void pending.delete(look),
    );
    pending.add(look);
  };
  const settled = async (timeoutMs: number): Promise<void> => {
    let timer: NodeJS.Timeout | undefined;
    const timeout = new Promise<void>((resolve) => {
      timer = setTimeout(resolve, timeoutMs);
    });
    await Promise.race([Promise.all(pending), timeout]);
    clearTimeout(timer);
    over.abort();
  };
  return { ask, settled, known: (address) => names.get(address) ?? null };
}
