export type { GeoLog } from './geo-log.ts';
export type { GeoSource } from './sources/geo-source.ts';
export { openGeo, type Geo, type GeoOptions } from './geo.ts';
