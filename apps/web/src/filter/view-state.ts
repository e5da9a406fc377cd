/** Grouping of the rows of a check. */
export const groupings = ['none', 'outcome', 'country', 'network'] as const;
export type Grouping = (typeof groupings)[number];

export interface Order {
  /** Column key; `probe` for the probe itself. */
  readonly key: string;
  readonly isDown: boolean;
}

/** Filter, grouping and order of a check's rows, which are in the query of the page's URL. */
export interface ViewState {
  /** Words that the texts of a probe and its result must contain. */
  readonly words: string;
  /** Only rows with this outcome, as worded by the page; empty for all. */
  readonly outcome: string;
  /** Undefined: chosen by the number of probes. */
  readonly group: Grouping | undefined;
  /** Undefined: failures first, but by name until the check is completed. */
  readonly order: Order | undefined;
  /** True if long lists are displayed completely. */
  readonly isAll: boolean;
}

/** @param search query of the URL, with or without `?` */
export function readView(search: string): ViewState {
  const query = new URLSearchParams(search);
  const sort = query.get('sort') ?? '';
  const key = sort.replace(/^-/, '');
  return {
    words: query.get('find') ?? '',
    outcome: query.get('outcome') ?? '',
    group: groupings.find((name) => name === query.get('group')),
    order: key === '' ? undefined : { key, isDown: sort.startsWith('-') },
    isAll: query.get('show') === 'all',
  };
}

/** The query for a view, with `?`; empty for the default view. */
export function writeView({ words, outcome, group, order, isAll }: ViewState): string {
  const query = new URLSearchParams();
  if (words.trim() !== '') query.set('find', words.trim());
  if (outcome !== '') query.set('outcome', outcome);
  if (group !== undefined) query.set('group', group);
  if (order !== undefined) query.set('sort', `${order.isDown ? '-' : ''}${order.key}`);
  if (isAll) query.set('show', 'all');
  const text = query.toString();
  return text === '' ? '' : `?${text}`;
}

/** The part of a view that leaves out no row. */
export const NO_FILTER = { words: '', outcome: '' } as const;

/** True if some rows may be left out. */
export function isFiltered({ words, outcome }: ViewState): boolean {
  return words.trim() !== '' || outcome !== '';
}
