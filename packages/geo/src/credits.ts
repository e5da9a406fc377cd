import { escapeText } from '@vantage/contract';

/** The parts of a source that its attribution needs. */
export interface Credited {
  readonly attribution: () => string;
  /** ISO 8601 date of the data; null if it is not known. */
  readonly date: () => string | null;
}

interface Credit {
  readonly provider: string | null;
  readonly dataDate: string | null;
}

/** Attributions of the sources of an answer; memoized per combination. */
export interface Credits {
  /** @param used one bit for each source, the lowest for the first */
  readonly of: (used: number) => Credit;
  /** Forgets the memoized attributions; called when a source has new data. */
  readonly clear: () => void;
}

export function createCredits(sources: readonly Credited[]): Credits {
  const written = new Map<number, Credit>();
  return {
    of(used) {
      let credit = written.get(used);
      if (credit === undefined) {
        credit = write(sources.filter((_, index) => (used & (1 << index)) !== 0));
        written.set(used, credit);
      }
      return credit;
    },
    clear: () => written.clear(),
  };
}

function write(sources: readonly Credited[]): Credit {
  const dates = sources.map((source) => source.date()).filter((date) => date !== null);
  const attributions = new Set(sources.map((source) => source.attribution()));
  return {
    provider: attributions.size === 0 ? null : escapeText([...attributions].join('; ')),
    dataDate: dates.toSorted().at(-1) ?? null,
  };
}
