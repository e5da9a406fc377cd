import { value } from 'virtual:world-map';

import type { MapFrame } from '../../build/world-map.ts';

export const map = value as MapFrame;
