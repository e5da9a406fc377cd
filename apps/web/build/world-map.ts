import { createRequire } from 'node:module';
import { readFileSync } from 'node:fs';

import { geoEqualEarth, geoPath, geoStream, type GeoPermissibleObjects } from 'd3-geo';
import { merge, mesh } from 'topojson-client';
import type { GeometryCollection, MultiPolygon, Polygon, Topology } from 'topojson-specification';

/** The map: SVG paths in integer units of a `width` × `height` box, and the projection's parameters. */
export interface WorldMap extends MapFrame, MapLand {}

export interface MapLand {
  /** Outlines of land as the `d` attribute of an SVG path. */
  readonly land: string;
  /** Borders between countries as the `d` attribute of an SVG path. */
  readonly borders: string;
}

export interface MapFrame {
  readonly width: number;
  readonly height: number;
  /** Equal Earth projection: x = translateX + scale × x(λ − centre, φ), y = translateY − scale × y(φ). */
  readonly centre: number;
  readonly scale: number;
  readonly translateX: number;
  readonly translateY: number;
}

type World = Topology<{ countries: GeometryCollection<{ name: string }> }>;

const WIDTH = 1200;
/** Central meridian: the map's edge, 169° W, is between Siberia and Alaska, and cuts only St. Lawrence Island. */
const CENTRE = 11;
/** ISO 3166-1 numeric code of Antarctica, which is omitted to enlarge the rest. */
const ANTARCTICA = '010';

/** Projects Natural Earth's countries (public domain, from world-atlas) in the build. */
export function drawWorld(): WorldMap {
  const file = createRequire(import.meta.url).resolve('world-atlas/countries-110m.json');
  const world = JSON.parse(readFileSync(file, 'utf8')) as World;
  const { countries } = world.objects;
  const shown: GeometryCollection<{ name: string }> = {
    ...countries,
    geometries: countries.geometries.filter(({ id }) => id !== ANTARCTICA),
  };
  const land = merge(world, shown.geometries as (Polygon | MultiPolygon)[]);
  const projection = geoEqualEarth().rotate([-CENTRE, 0]).fitWidth(WIDTH, land);
  const height = Math.ceil(geoPath(projection).bounds(land)[1][1]) + 4;
  const [translateX, translateY] = projection.translate();
  return {
    width: WIDTH,
    height,
    land: pathOf(land),
    borders: pathOf(mesh(world, shown, (a, b) => a !== b)),
    centre: CENTRE,
    scale: projection.scale(),
    translateX,
    translateY,
  };

  function pathOf(shape: GeoPermissibleObjects): string {
    const pen = createPen();
    geoStream(shape, projection.stream(pen));
    return pen.written();
  }
}

/** Writes relative moves in integer units. A point that coincides with the one before is omitted. */
function createPen() {
  let text = '';
  let at: readonly [number, number] = [0, 0];
  let isFirst = true;
  let isRing = false;
  const move = (command: string, to: readonly [number, number]): void => {
    const [x, y] = [to[0] - at[0], to[1] - at[1]];
    // SVG path syntax: pairs after a move are lines, and a minus sign needs no separator.
    text += `${command}${command === '' && x >= 0 ? ' ' : ''}${x}${y >= 0 ? ' ' : ''}${y}`;
    at = to;
  };
  let start: readonly [number, number] = [0, 0];
  return {
    point(x: number, y: number): void {
      const to = [Math.round(x), Math.round(y)] as const;
      if (isFirst) {
        move('m', to);
        start = to;
        isFirst = false;
      } else if (to[0] !== at[0] || to[1] !== at[1]) move('', to);
    },
    lineStart(): void {
      isFirst = true;
    },
    lineEnd(): void {
      if (!isRing) return;
      text += 'z';
      at = start;
    },
    polygonStart(): void {
      isRing = true;
    },
    polygonEnd(): void {
      isRing = false;
    },
    written: () => text,
  };
}
