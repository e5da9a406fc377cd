import type { MapPoint } from './project.ts';

export interface Pin extends MapPoint {
  readonly id: string;
}

/** Side of the pin at which its label is placed. */
export type LabelSide = 'right' | 'left' | 'above' | 'below';

/**
 * Separates overlapping pins: moves each later one along a spiral around its own place until it is free, for 399 steps
 * at most.
 */
export function spread(pins: readonly Pin[], distance: number): readonly Pin[] {
  const placed: Pin[] = [];
  for (const pin of pins) {
    let at = pin;
    for (let step = 1; step < 400 && placed.some((other) => apart(other, at) < distance); step += 1) {
      // Golden angle: no two steps of the spiral share a direction.
      const radius = distance * 0.45 * Math.sqrt(step);
      at = { id: pin.id, x: pin.x + radius * Math.cos(step * 2.4), y: pin.y + radius * Math.sin(step * 2.4) };
    }
    placed.push(at);
  }
  return placed;
}

interface Room {
  readonly width: number;
  readonly height: number;
  /** Character width and line height of labels, in map units. */
  readonly character: number;
  readonly line: number;
  /** Pin radius. */
  readonly radius: number;
}

interface Box {
  readonly left: number;
  readonly right: number;
  readonly top: number;
  readonly bottom: number;
}

/**
 * Places each label inside of the map so that it covers no pin and no other label; leaves out labels without room.
 *
 * @param labels texts by pin id
 */
export function placeLabels(
  pins: readonly Pin[],
  labels: ReadonlyMap<string, string>,
  room: Room,
): ReadonlyMap<string, LabelSide> {
  const sides = new Map<string, LabelSide>();
  const taken: Box[] = pins.map(({ x, y }) => around(x, y, room.radius));
  for (const pin of pins) {
    const text = labels.get(pin.id);
    if (text === undefined) continue;
    for (const side of ['right', 'left', 'above', 'below'] as const) {
      const box = boxOf(pin, side, text.length * room.character, room);
      const isInside = box.left >= 0 && box.right <= room.width && box.top >= 0 && box.bottom <= room.height;
      if (!isInside || taken.some((other) => overlap(other, box))) continue;
      taken.push(box);
      sides.set(pin.id, side);
      break;
    }
  }
  return sides;
}

function boxOf({ x, y }: Pin, side: LabelSide, width: number, { line, radius }: Room): Box {
  const gap = radius * 1.5;
  if (side === 'right') return { left: x + gap, right: x + gap + width, top: y - line / 2, bottom: y + line / 2 };
  if (side === 'left') return { left: x - gap - width, right: x - gap, top: y - line / 2, bottom: y + line / 2 };
  const top = side === 'above' ? y - gap - line : y + gap;
  return { left: x - width / 2, right: x + width / 2, top, bottom: top + line };
}

function around(x: number, y: number, radius: number): Box {
  return { left: x - radius, right: x + radius, top: y - radius, bottom: y + radius };
}

function overlap(a: Box, b: Box): boolean {
  return a.left < b.right && b.left < a.right && a.top < b.bottom && b.top < a.bottom;
}

function apart(a: MapPoint, b: MapPoint): number {
  return Math.hypot(a.x - b.x, a.y - b.y);
}
