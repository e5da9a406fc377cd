import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';

import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';

import { startHttpBed, type HttpBed } from '../../../test/http-bed.ts';
import { CHECK_ID } from '../../../test/http-fakes.ts';

const modules = join(import.meta.dirname, '../../../node_modules');
const run = promisify(execFile);

/**
 * Generators with a program for their client: a minimal request, one with an option, and access to fields of the
 * response.
 */
const clients = {
  'openapi-typescript and openapi-fetch': {
    generate: ['openapi-typescript/bin/cli.js', 'openapi.json', '-o', 'schema.d.ts'],
    file: 'fetch',
    program: `
      import createClient from 'openapi-fetch';
      import type { paths } from './schema';
      async function main(): Promise<void> {
        const client = createClient<paths>({ baseUrl: process.argv[2]! });
        const tcp = await client.POST('/check', { body: { type: 'tcp', host: 'a.example', port: 443 } });
        await client.POST('/check', { body: { type: 'ping', host: 'a.example', options: { count: 2 } } });
        const id: string = tcp.data!.checkId;
        const { data } = await client.GET('/check/{id}/results', { params: { path: { id } } });
        console.log(JSON.stringify([id, data!.type, data!.status]));
      }
      void main();`,
  },
  '@hey-api/openapi-ts': {
    generate: ['@hey-api/openapi-ts/bin/run.js', '-i', 'openapi.json', '-o', 'client'],
    file: 'hey',
    program: `
      import { client } from './client/client.gen';
      import { createCheck, followCheck, readCheck } from './client/sdk.gen';
      async function main(): Promise<void> {
        client.setConfig({ baseUrl: process.argv[2]! as never });
        const tcp = await createCheck({ body: { type: 'tcp', host: 'a.example', port: 443 } });
        await createCheck({ body: { type: 'ping', host: 'a.example', options: { count: 2 } } });
        const id: string = tcp.data!.checkId;
        const { data } = await readCheck({ path: { id } });
        console.log(JSON.stringify([id, data!.type, data!.status]));
      }
      // Events are objects, at run time too; the stream of this client ends only if the loop is left.
      export async function follow(id: string): Promise<string | undefined> {
        const { stream } = await followCheck({ path: { id } });
        for await (const event of stream) if (event && 'testId' in event) return event.testId;
        return undefined;
      }
      void main();`,
  },
} as const;

const compilerOptions = ['--strict', '--target', 'es2022', '--module', 'commonjs', '--skipLibCheck'];

describe('a client generated from the OpenAPI document, with the defaults of its generator', () => {
  const folder = mkdtempSync(join(tmpdir(), 'vantage-generated-'));
  let bed: HttpBed;

  beforeAll(async () => {
    bed = await startHttpBed();
    const now = new Date().toISOString();
    const check = { testId: CHECK_ID, type: 'tcp', host: 'a.example', status: 'completed', results: {} } as const;
    bed.stored.set(CHECK_ID, { ...check, createdAt: now, completedAt: now });
    writeFileSync(join(folder, 'openapi.json'), (await bed.ask('/openapi.json')).text);
    symlinkSync(modules, join(folder, 'node_modules'));
    writeFileSync(join(folder, 'package.json'), '{"type":"commonjs"}');
  });
  afterAll(async () => {
    await bed.close();
    rmSync(folder, { recursive: true });
  });

  const node = async (...args: readonly string[]): Promise<string> =>
    (await run(process.execPath, args, { cwd: folder, encoding: 'utf8' }).catch(withOutput)).stdout;

  it('compiles', async () => {
    for (const { generate, file, program } of Object.values(clients)) {
      const [generator, ...words] = generate;
      await node(join(modules, generator), ...words);
      writeFileSync(join(folder, `${file}.ts`), program);
    }
    const types = ['--types', 'node', '--typeRoots', join(modules, '../../../node_modules/@types')];
    const files = Object.values(clients).map(({ file }) => `${file}.ts`);

    expect(
      await node(join(modules, 'typescript/bin/tsc'), ...compilerOptions, ...types, '--outDir', 'out', ...files),
    ).toBe('');
  });

  it.each(Object.entries(clients))('runs a check: %s', async (_name, { file }) => {
    bed.created.length = 0;

    const printed = await node(join(folder, 'out', `${file}.js`), bed.url);

    expect(JSON.parse(printed)).toEqual([CHECK_ID, 'tcp', 'completed']);
    expect(bed.created.map(({ checkType, params }) => [checkType.type, params.options])).toEqual([
      ['tcp', expect.objectContaining({ attempts: 3 })],
      ['ping', expect.objectContaining({ count: 2 })],
    ]);
  });
});

/** Throws the error with the standard output, to which the compiler writes its errors. */
function withOutput(error: unknown): never {
  const { message, stdout } = error as Error & { readonly stdout?: string };
  throw new Error(`${message}\n${stdout ?? ''}`, { cause: error });
}
