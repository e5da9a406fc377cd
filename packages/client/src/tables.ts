/** Results by probe, in the order of the rows. */
export type ResultRows = readonly (readonly [probe: string, result: object])[];

/** The fields of `GET /probes` that precede the results. */
export interface TableProbe {
  readonly countryCode: string;
  readonly city: string | null;
  readonly asNumber: string;
  readonly isp: string;
}

/** The fields of a check that precede its results. */
export interface TableCheck {
  readonly testId: string;
  readonly type: string;
  readonly host: string;
}

/** Columns of every result, whatever its outcome. */
const commonColumns = ['result', 'rt', 'resolvedIp', 'error.code', 'error.phase', 'error.source', 'error.message'];

/**
 * Columns of a probe, and its fields. The prefix is needed because a result may have fields of these names about the
 * target.
 */
const probeColumns = {
  probeCountryCode: 'countryCode',
  probeCity: 'city',
  probeAsNumber: 'asNumber',
  probeIsp: 'isp',
} as const satisfies Readonly<Record<string, keyof TableProbe>>;

/**
 * Results as CSV (RFC 4180), one row per probe: the check, the probe with its location and network (`probeCity`), then
 * each scalar field of the results (`timings.total` for nested ones) and each list of scalars. Other lists and the
 * screenshot are omitted, except that DNS answers are written as their data, hops as their number (`hopCount`), and
 * lists that `columns` names as JSON.
 *
 * @param probes response of `GET /probes`, if known
 * @param columns first columns of the results; others follow in the order in which they occur. With all fields of a
 *   check type, tables of several checks have the same columns
 */
export function asCsv(
  rows: ResultRows,
  probes: Readonly<Record<string, TableProbe>> = {},
  check?: TableCheck,
  columns: readonly string[] = commonColumns,
): string {
  const known = new Set(columns);
  const flat = rows.map(([probe, result]) => ({
    ...factsOfCheck(check),
    probe,
    ...factsOf(probes, probe),
    ...flatten(result, known),
  }));
  const first = [...Object.keys(factsOfCheck(check)), 'probe', ...Object.keys(probeColumns), ...columns];
  const names = new Set<string>([...first, ...flat.flatMap(Object.keys)]);
  const lines = flat.map((row: Readonly<Record<string, unknown>>) => [...names].map((name) => cell(row[name])));
  return [[...names].map(cell), ...lines].map((line) => `${line.join(',')}\r\n`).join('');
}

function factsOfCheck(check: TableCheck | undefined): Readonly<Record<string, string>> {
  return check === undefined ? {} : { checkId: check.testId, type: check.type, host: check.host };
}

/** Results as JSON lines: one object per probe, with its id in `probe`; the check, location and network as in CSV. */
export function asJsonLines(
  rows: ResultRows,
  probes: Readonly<Record<string, TableProbe>> = {},
  check?: TableCheck,
): string {
  const objects = rows.map(([probe, result]) => ({
    ...factsOfCheck(check),
    probe,
    ...factsOf(probes, probe),
    ...result,
  }));
  return objects.map((object) => `${JSON.stringify(object)}\n`).join('');
}

function factsOf(probes: Readonly<Record<string, TableProbe>>, id: string): Readonly<Record<string, unknown>> {
  const probe = Object.hasOwn(probes, id) ? probes[id] : undefined;
  return probe === undefined
    ? {}
    : Object.fromEntries(Object.entries(probeColumns).map(([column, name]) => [column, probe[name]]));
}

/**
 * @param columns an object or a list with one of these names is written into one cell as JSON, such as headers, whose
 *   names the target chooses
 */
function flatten(value: object, columns: ReadonlySet<string>, prefix = ''): Record<string, unknown> {
  const fields = Object.entries(value as Record<string, unknown>).flatMap(([name, field]): [string, unknown][] => {
    if (prefix === '' && name === 'screenshot') return [];
    if (name === 'hops' && answersOf.has(prefix) && Array.isArray(field)) return [[`${prefix}hopCount`, field.length]];
    if (Array.isArray(field)) {
      const items = field.map((item: unknown) => (name === 'answers' && answersOf.has(prefix) ? dataOf(item) : item));
      if (!items.some(isObject)) return [[`${prefix}${name}`, items.join(' ')]];
      return columns.has(`${prefix}${name}`) ? [[`${prefix}${name}`, field]] : [];
    }
    const path = `${prefix}${name}`;
    if (isObject(field) && !columns.has(path)) return Object.entries(flatten(field, columns, `${path}.`));
    const isEmptyObject = field === null && [...columns].some((name) => name.startsWith(`${path}.`));
    return isEmptyObject ? [] : [[path, field]];
  });
  return Object.fromEntries(fields);
}

/** Prefixes of the field names of a result's measurements. */
const answersOf: ReadonlySet<string> = new Set(['', 'otherFamily.']);

function dataOf(item: unknown): unknown {
  return isObject(item) && 'data' in item ? item.data : item;
}

function isObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null;
}

/** Quotes a cell. Spreadsheets evaluate text that begins like a formula, so such text gets an apostrophe. */
function cell(value: unknown): string {
  if (value === null || value === undefined) return '';
  const written = typeof value === 'string' ? value : JSON.stringify(value);
  const text = typeof value === 'string' && /^[=+\-@\t\r]/.test(value) ? `'${value}` : written;
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}
