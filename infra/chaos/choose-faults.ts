import type { Fault } from './faults/index.ts';

/** Which faults to inject; all conditions must hold. */
export interface FaultChoice {
  /** Parts of names, separated by commas. An empty one is in every name. */
  readonly only: string;
  readonly except: string | undefined;
  /** A `StoreKind`; undefined for every store. */
  readonly store: string | undefined;
  /** `K/N`: every Nth fault, from the Kth on. */
  readonly shard: string | undefined;
}

/** @returns an error message instead if the choice is invalid */
export function chooseFaults(
  all: readonly Fault[],
  { only, except, store, shard = '1/1' }: FaultChoice,
): readonly Fault[] | string {
  const [, first = '0', count = '0'] = /^(\d+)\/(\d+)$/.exec(shard) ?? [];
  if (Number(first) < 1 || Number(first) > Number(count)) {
    return `invalid --shard "${shard}"; expected K/N, with K from 1 to N`;
  }
  const stores = [...new Set(all.map(storeOf))];
  if (store !== undefined && !stores.some((one) => one === store)) {
    return `unknown --store "${store}"; expected one of ${stores.join(', ')}`;
  }
  return all
    .filter((fault) => store === undefined || storeOf(fault) === store)
    .filter(({ name }) => hasAny(name, only) && (except === undefined || !hasAny(name, except)))
    .filter((_, index) => index % Number(count) === Number(first) - 1);
}

export function storeOf({ store = 'single' }: Fault): NonNullable<Fault['store']> {
  return store;
}

/** @param texts separated by commas; an empty one is in every name */
function hasAny(name: string, texts: string): boolean {
  return texts.split(',').some((text) => name.toLowerCase().includes(text.trim().toLowerCase()));
}
