import { createCities, type Cities } from './cities.ts';
import { createCountries, type Countries } from './countries.ts';
import { createStates, type States } from './states.ts';

/** Names of countries, states and cities. */
export interface Places {
  readonly countries: Countries;
  readonly cities: Cities;
  readonly states: States;
}

let places: Places | undefined;

/** Returns the table of names, built once per process in some tens of milliseconds. */
export function placeNames(): Places {
  if (places === undefined) {
    const cities = createCities();
    places = { countries: createCountries(), cities, states: createStates(cities) };
  }
  return places;
}
