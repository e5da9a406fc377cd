import { createConformance } from '../src/http/conformance.ts';

type Conformance = ReturnType<typeof createConformance>;

const compiled = new Map<string, Conformance>();

/** Validator for the OpenAPI document of a service; compiled once for all services that differ in the URL only. */
export async function conformanceTo(url: string): Promise<Conformance> {
  const document = await (await fetch(`${url}/openapi.json`)).text();
  const key = document.replaceAll(url, '');
  const found = compiled.get(key) ?? createConformance(JSON.parse(document));
  compiled.set(key, found);
  return found;
}
