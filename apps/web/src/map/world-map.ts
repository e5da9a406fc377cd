import { value } from 'virtual:world-map';

import type { WorldMap } from '../../build/world-map.ts';

export const map = value as WorldMap;
