import { createCities, type Cities } from './cities.ts';
import { createCountries, type Countries } from './countries.ts';
import { createStates, type States } from './states.ts';

/** The names of countries, states and cities. */
export interface Places {
  readonly countries: Countries;
  readonly cities: Cities;
  readonly states: States;
}

let places: Places | undefined;

/** Built once in a process, in some tens of milliseconds: a table that nothing changes. */
export function placeNames(): Places {
  if (places === undefined) {
    const cities = createCities();
    places = { countries: createCountries(), cities, states: createStates(cities) };
  }
  return places;
}
