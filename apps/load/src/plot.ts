/** Points of a curve, x ascending; a null y leaves a gap. */
export interface Series {
  readonly name: string;
  readonly color: string;
  readonly points: readonly (readonly [x: number, y: number | null])[];
}

export interface PlotOptions {
  readonly title: string;
  readonly xLabel: string;
  readonly yLabel: string;
  readonly series: readonly Series[];
  /** Tick marks of the x axis; evenly spaced by default. */
  readonly xMarks?: readonly (readonly [x: number, label: string])[];
  /** A horizontal line, such as a goal. */
  readonly level?: { readonly y: number; readonly name: string };
}

const WIDTH = 860;
const HEIGHT = 280;
const EDGE = { left: 64, right: 16, top: 34, bottom: 44 };

/** Renders a plot as inline SVG. Escapes no texts: all are constants of this program. */
export function plot({ title, xLabel, yLabel, series, xMarks, level }: PlotOptions): string {
  const all = series.flatMap(({ points }) => points);
  const lastX = largest(
    all.map(([x]) => x),
    1,
  );
  const top = roundUp(
    largest(
      all.map(([, y]) => y ?? 0),
      level?.y ?? 1,
    ),
  );
  const x = (value: number): number => round(EDGE.left + (value / lastX) * (WIDTH - EDGE.left - EDGE.right));
  const y = (value: number): number => round(HEIGHT - EDGE.bottom - (value / top) * (HEIGHT - EDGE.top - EDGE.bottom));
  const yMarks = [0, 0.25, 0.5, 0.75, 1].map((part) => part * top);
  const marks =
    xMarks ??
    [0, 0.2, 0.4, 0.6, 0.8, 1].map((part) => {
      const value = part * lastX;
      return [value, String(Math.round(value * 10) / 10)] as const;
    });
  const curves = series.map(
    ({ points, color }) =>
      `<path fill="none" stroke="${color}" stroke-width="1.5" stroke-linecap="round" d="${curve(points, x, y)}"/>`,
  );
  const legend = series.map(
    ({ name, color }, index) =>
      `<text x="${WIDTH - EDGE.right - (series.length - 1 - index) * 110}" y="18" text-anchor="end" fill="${color}">${name}</text>`,
  );
  return [
    `<svg viewBox="0 0 ${WIDTH} ${HEIGHT}" role="img" aria-label="${title}" xmlns="http://www.w3.org/2000/svg">`,
    `<text x="${EDGE.left}" y="18" class="title">${title}</text>`,
    ...yMarks.map(
      (value) =>
        `<path class="grid" d="M${EDGE.left} ${y(value)}H${WIDTH - EDGE.right}"/>` +
        `<text x="${EDGE.left - 6}" y="${y(value) + 4}" text-anchor="end">${shortNumber(value)}</text>`,
    ),
    ...marks.map(
      ([value, label]) => `<text x="${x(value)}" y="${HEIGHT - EDGE.bottom + 16}" text-anchor="middle">${label}</text>`,
    ),
    `<text x="${(WIDTH + EDGE.left) / 2}" y="${HEIGHT - 8}" text-anchor="middle">${xLabel}</text>`,
    `<text transform="translate(12 ${HEIGHT / 2}) rotate(-90)" text-anchor="middle">${yLabel}</text>`,
    ...(level === undefined
      ? []
      : [
          `<path class="level" d="M${EDGE.left} ${y(level.y)}H${WIDTH - EDGE.right}"/>`,
          `<text x="${EDGE.left + 6}" y="${y(level.y) - 4}">${level.name}</text>`,
        ]),
    ...curves,
    ...legend,
    '</svg>',
  ].join('\n');
}

/** An isolated point is a line of zero length with round caps. */
function curve(points: Series['points'], x: (value: number) => number, y: (value: number) => number): string {
  const hasGap = (index: number): boolean => (points[index]?.[1] ?? null) === null;
  return points
    .map(([a, b], index) => {
      if (b === null) return '';
      return `${hasGap(index - 1) ? 'M' : 'L'}${x(a)} ${y(b)}${hasGap(index - 1) && hasGap(index + 1) ? 'h0' : ''}`;
    })
    .join('');
}

/** Not with spread arguments, whose number is limited: there may be a day of points. */
function largest(values: readonly number[], least: number): number {
  return values.reduce((most, value) => Math.max(most, value), least);
}

function roundUp(value: number): number {
  const unit = 10 ** Math.floor(Math.log10(value));
  return Math.ceil(value / unit) * unit;
}

function round(value: number): number {
  return Math.round(value * 10) / 10;
}

function shortNumber(value: number): string {
  return value >= 100 ? String(Math.round(value)) : String(Number(value.toPrecision(3)));
}
