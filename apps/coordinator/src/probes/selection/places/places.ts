import { createCities, type Cities } from './cities.ts';
import { createCountries, type Countries } from './countries.ts';
import { readPlaceData } from './place-data.ts';
import { createStates, type States } from './states.ts';

/** Names of countries, states and cities. */
export interface Places {
  readonly countries: Countries;
  readonly cities: Cities;
  readonly states: States;
}

let places: Places | undefined;

/** Returns the table of names, which the first call builds. */
export function placeNames(): Places {
  if (places === undefined) {
    const data = readPlaceData();
    const cities = createCities(data);
    places = { countries: createCountries(data), cities, states: createStates(cities, data) };
  }
  return places;
}
