import { readFileSync } from 'node:fs';
import { join } from 'node:path';

import { expect, it } from '@jest/globals';

const read = (path: string): string => readFileSync(join(import.meta.dirname, '../..', path), 'utf8');

it('the development container has the Debian and the Node of the images, and of the checkout', () => {
  const { image } = JSON.parse(read('.devcontainer/devcontainer.json')) as { readonly image: string };
  const [, node, debian] = /^node:(\d+)-(\w+)$/.exec(image) ?? [];

  const built = ['coordinator', 'probe-agent', 'load'].map((name) => read(`infra/docker/${name}.Dockerfile`));

  for (const dockerfile of built) {
    expect(/^FROM node:(\d+)-(\w+)-slim/m.exec(dockerfile)?.slice(1)).toEqual([node, debian]);
    expect(/^FROM debian:(\w+)-slim/m.exec(dockerfile)?.[1]).toBe(debian);
  }
  expect(read('.node-version').split('.')[0]).toBe(node);
});
