import { createCities, type Cities } from './cities.ts';
import { createCountries, type Countries } from './countries.ts';

/** The names of countries and cities. */
export interface Places {
  readonly countries: Countries;
  readonly cities: Cities;
}

let places: Places | undefined;

/** Built once in a process, in some tens of milliseconds: a table that nothing changes. */
export function placeNames(): Places {
  places ??= { countries: createCountries(), cities: createCities() };
  return places;
}
