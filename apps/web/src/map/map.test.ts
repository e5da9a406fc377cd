import { describe, expect, it } from '@jest/globals';
import { geoEqualEarth } from 'd3-geo';

import { drawWorld } from '../../build/world-map.ts';
import { placeLabels, spread, type Pin } from './arrange.ts';
import { project } from './project.ts';

describe('the map', () => {
  const map = drawWorld();

  it('puts a place where d3-geo has drawn it', () => {
    const projection = geoEqualEarth()
      .rotate([-map.centre, 0])
      .scale(map.scale)
      .translate([map.translateX, map.translateY]);
    for (const [latitude, longitude] of [
      [0, 0],
      [51.5, -0.1],
      [-33.9, 151.2],
      [71, -156],
      [-54.8, -68.3],
      [66, -170],
      [-17.7, 178],
    ] as const) {
      const { x, y } = project(map, latitude, longitude);
      const [expectedX, expectedY] = projection([longitude, latitude])!;
      expect([x, y]).toEqual([expect.closeTo(expectedX, 6), expect.closeTo(expectedY, 6)]);
    }
  });

  it('has its land inside of its box', () => {
    let start = [0, 0];
    let at = [0, 0];
    let points = 0;
    const outside: number[][] = [];
    for (const [, ring] of map.land.matchAll(/m([^m]*?)z?(?=m|$)/g)) {
      const numbers = [...ring!.matchAll(/-?\d+/g)].map(([text]) => Number(text));
      for (let index = 0; index < numbers.length; index += 2) {
        at = [at[0]! + numbers[index]!, at[1]! + numbers[index + 1]!];
        if (index === 0) start = at;
        points += 1;
        if (!(at[0]! >= 0 && at[0]! <= map.width && at[1]! >= 0 && at[1]! <= map.height)) outside.push(at);
      }
      // A closed ring ends at its start.
      at = start;
    }
    expect(outside).toEqual([]);
    expect(points).toBeGreaterThan(2000);
    expect(map.height).toBeGreaterThan(map.width / 3);
    expect(map.height).toBeLessThan(map.width / 2);
  });

  it('moves pins apart that would cover each other, and leaves the others', () => {
    const pins = Array.from({ length: 30 }, (_, index): Pin => ({ id: String(index), x: 100, y: 100 }));
    const alone: Pin = { id: 'alone', x: 500, y: 100 };

    const placed = spread([...pins, alone], 20);

    for (const [index, a] of placed.entries()) {
      for (const b of placed.slice(index + 1)) expect(Math.hypot(a.x - b.x, a.y - b.y)).toBeGreaterThanOrEqual(20);
    }
    expect(placed.at(-1)).toEqual(alone);
  });

  it('puts a label where there is room for it, and none where there is none', () => {
    const room = { width: 1000, height: 500, character: 10, line: 20, radius: 10 };
    const pins = [
      { id: 'west', x: 500, y: 100 },
      { id: 'east', x: 530, y: 100 },
      { id: 'edge', x: 990, y: 300 },
    ];
    const labels = new Map(pins.map(({ id }) => [id, '12.3 ms']));

    const sides = placeLabels(pins, labels, room);

    expect(Object.fromEntries(sides)).toEqual({ west: 'left', east: 'right', edge: 'left' });
    const crowd = Array.from({ length: 9 }, (_, index) => ({ id: String(index), x: 500, y: 100 }));
    expect(placeLabels(crowd, new Map(crowd.map(({ id }) => [id, '12.3 ms'])), room).size).toBe(4);
  });
});
