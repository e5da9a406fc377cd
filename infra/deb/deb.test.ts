import { execFileSync, spawnSync } from 'node:child_process';
import { linkSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { settings } from '@vantage/probe-agent';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';

import { placeFiles } from './build-deb.ts';
import { removeBuildPaths } from './build-paths.ts';
import { controlFile, libraryVersion, unitFile } from './control.ts';
import { removeUnused, tidyFiles } from './tidy-files.ts';

const bareHost = readFileSync(join(import.meta.dirname, '../agent/vantage-agent.service'), 'utf8');

describe('the control file', () => {
  it('requires the newest C library that a native file asks for', () => {
    const files = [Buffer.from('x\0GLIBC_2.9\0GLIBC_2.34\0'), Buffer.from('GLIBC_2.17\0GLIBCXX_3.4.30')];

    expect(libraryVersion(files, 'GLIBC')).toBe('2.34');
    expect(controlFile({ version: '1.2.3', architecture: 'arm64', libc: '2.34', kibibytes: 7 })).toMatch(
      /^Version: 1\.2\.3\nArchitecture: arm64\n[\s\S]*^Depends: libc6 \(>= 2\.34\),/m,
    );
  });
});

describe('the program of the package', () => {
  const checkout = '/home/someone/vantage';
  let home: string;
  const place = (path: string, text: string): void => {
    mkdirSync(join(home, path, '..'), { recursive: true });
    writeFileSync(join(home, path), text);
  };

  beforeEach(() => {
    home = mkdtempSync(join(tmpdir(), 'vantage-deb-test-'));
    const dependencies = { '@vantage/timers': `@vantage/timers@file://${checkout}/packages/timers`, pino: '10.4.0' };
    place('package.json', JSON.stringify({ name: 'x', version: '1.2.3', type: 'module', dependencies }));
    for (const path of ['pnpm-lock.yaml', 'pnpm-workspace.yaml', 'node_modules/.modules.yaml']) place(path, checkout);
    place('node_modules/.pnpm/lock.yaml', checkout);
    place('node_modules/.pnpm-workspace-state-v1.json', checkout);
    place('node_modules/pino/package.json', '{}');
  });
  afterEach(() => rmSync(home, { recursive: true, force: true }));

  it('does not have the path of the build machine', () => {
    removeBuildPaths(home, checkout);

    expect(JSON.parse(readFileSync(join(home, 'package.json'), 'utf8'))).toEqual({
      name: 'x',
      version: '1.2.3',
      type: 'module',
      dependencies: { '@vantage/timers': '1.2.3', pino: '10.4.0' },
    });
    expect(readdirSync(home).toSorted()).toEqual(['node_modules', 'package.json']);
    expect(readdirSync(join(home, 'node_modules'))).toEqual(['pino']);
  });

  it.each([
    ['a file', 'dist/main.js', `// ${checkout}/src`],
    ['the name of a folder', 'node_modules/x@file++++home+someone+vantage/y.js', ''],
  ])('is not packed with it in %s', (_where, path, text) => {
    place(path, text);
    expect(() => removeBuildPaths(home, checkout)).toThrow('the path of the build machine');
  });
});

describe('the folders of the package', () => {
  it('are those of any package, from a build with a narrow umask and hard links', () => {
    const root = mkdtempSync(join(tmpdir(), 'vantage-deb-test-'));
    mkdirSync(join(root, 'usr/lib'), { recursive: true, mode: 0o700 });
    mkdirSync(join(root, 'DEBIAN'), { mode: 0o755 });
    const about = { version: '1.2.3', architecture: 'all', libc: '2.34', kibibytes: 7 };
    writeFileSync(join(root, 'DEBIAN/control'), controlFile(about));
    writeFileSync(join(root, 'usr/lib/a.js'), 'a');
    linkSync(join(root, 'usr/lib/a.js'), join(root, 'usr/lib/b.js'));
    for (const name of ['.npmignore', '.eslintrc.json', 'eslint.config.js', 'a.js.map'])
      writeFileSync(join(root, 'usr/lib', name), '');
    removeUnused(root);
    tidyFiles(root);
    const file = `${root}.deb`;
    execFileSync('dpkg-deb', ['--root-owner-group', '--build', root, file], { stdio: 'ignore' });
    const listed = execFileSync('dpkg-deb', ['--contents', file], { encoding: 'utf8' });
    for (const path of [root, file]) rmSync(path, { recursive: true, force: true });

    // Mode, owner, size, date, time, path; a hard link adds " link to ".
    const entries = listed
      .trimEnd()
      .split('\n')
      .map((line) => line.split(/\s+/));
    expect(entries.map(([mode, owner, , , , ...path]) => [mode, owner, path.join(' ')])).toEqual([
      ['drwxr-xr-x', 'root/root', './'],
      ['drwxr-xr-x', 'root/root', './usr/'],
      ['drwxr-xr-x', 'root/root', './usr/lib/'],
      ['-rw-r--r--', 'root/root', './usr/lib/a.js'],
      ['-rw-r--r--', 'root/root', './usr/lib/b.js'],
    ]);
  });
});

describe('the unit of the package', () => {
  it('is that of a bare host with the files and the user of the package', () => {
    const unit = unitFile(bareHost);

    expect(unit).not.toMatch(/\/opt\/|\/usr\/bin\/node|DynamicUser/);
    expect(unit).toContain(
      '\nExecStart=/usr/lib/vantage-agent/node --max-semi-space-size=2 /usr/lib/vantage-agent/dist/main.js\n',
    );
    expect(unit).toContain('\nUser=vantage-agent\n');
    expect(unit).toContain('\nAmbientCapabilities=CAP_NET_RAW\n');
  });

  it('is not written from one that has changed', () => {
    expect(() => unitFile(bareHost.replace('DynamicUser=yes\n', ''))).toThrow('the unit has no');
  });
});

describe('the files of the package', () => {
  it('have no configuration file, about whose changes an unattended upgrade would stop to ask', () => {
    const root = mkdtempSync(join(tmpdir(), 'vantage-deb-test-'));
    mkdirSync(join(root, 'usr/lib/vantage-agent'), { recursive: true });
    placeFiles(root);
    const folders = readdirSync(root);
    const template = readFileSync(join(root, 'usr/share/vantage-agent/agent.env'), 'utf8');
    const copyright = readFileSync(join(root, 'usr/share/doc/vantage-agent/copyright'), 'utf8');
    rmSync(root, { recursive: true, force: true });

    expect(folders).toEqual(['usr']);
    expect(copyright).toContain('Licensed under the Apache License');
    // The policy of Debian, section 12.5.
    expect(copyright).toContain('/usr/share/common-licenses/Apache-2.0');
    expect(template).toContain('`vantage-agent enrol URL TOKEN` adds VANTAGE_URL.');
  });
});

describe('the scripts of the package', () => {
  const folder = join(import.meta.dirname, 'files');
  const read = (name: string): string => readFileSync(join(folder, name), 'utf8');

  it.each(['vantage-agent.sh', 'postinst.sh', 'prerm.sh', 'postrm.sh'])(
    '%s is a script that a shell can read',
    (name) => {
      expect(spawnSync('sh', ['-n', join(folder, name)], { encoding: 'utf8' })).toMatchObject({
        status: 0,
        stderr: '',
      });
      expect(read(name)).toMatch(/^#!\/bin\/sh\n/);
    },
  );

  it('enrol with the settings of the file, and keep them', () => {
    const root = mkdtempSync(join(tmpdir(), 'vantage-deb-enrol-'));
    try {
      const script = read('vantage-agent.sh').replaceAll(/(?<==)(?=\/(usr|etc)\/)/g, root);
      const etc = join(root, 'etc/vantage');
      const bin = join(root, 'usr/lib/vantage-agent');
      for (const folder of [etc, bin]) mkdirSync(folder, { recursive: true });
      const given =
        '# A comment with A=b\nVANTAGE_CA_FILE=/etc/vantage/ca a.pem\nCONTACT=a@example.com\nPATH=/nowhere\nA-B=c';
      writeFileSync(join(etc, 'agent.env'), `${given}\nVANTAGE_URL=https://old.example.com\n`);
      for (const [path, text] of [
        [join(bin, 'id'), 'echo 0'],
        [join(bin, 'setpriv'), 'env'],
        [join(bin, 'systemctl'), ':'],
      ] as const) {
        writeFileSync(path, `#!/bin/sh\n${text}\n`, { mode: 0o755 });
      }
      const ran = spawnSync('sh', ['-s', '--', 'enrol', 'https://new.example.com', 'vt1_a'], {
        input: script,
        encoding: 'utf8',
        env: { PATH: `${bin}:${process.env['PATH']}` },
      });

      expect(ran).toMatchObject({ status: 0, stderr: '' });
      expect(ran.stdout.split('\n')).toEqual(
        expect.arrayContaining(['VANTAGE_CA_FILE=/etc/vantage/ca a.pem', 'CONTACT=a@example.com']),
      );
      expect(readFileSync(join(etc, 'agent.env'), 'utf8')).toBe(`${given}\nVANTAGE_URL=https://new.example.com\n`);
    } finally {
      rmSync(root, { recursive: true, force: true });
    }
  });

  it('use the user, the folders and the settings that unit and agent have', () => {
    const unit = unitFile(bareHost);
    const known = new Set<string>(Object.values(settings).map(({ env }) => env));
    const named = [...`${read('agent.env')}${read('vantage-agent.sh')}`.matchAll(/\b([A-Z]+_[A-Z_]+)\b/g)].map(
      ([, name]) => name!,
    );

    expect(unit).toContain('\nStateDirectory=vantage-agent\n');
    expect(unit).toContain('\nEnvironmentFile=/etc/vantage/agent.env\n');
    expect(read('postinst.sh')).toContain(
      'install -d -o vantage-agent -g vantage-agent -m 0700 /var/lib/vantage-agent',
    );
    expect(read('postinst.sh')).toContain('[ -e /etc/vantage/agent.env ] || install -D -m 0600');
    expect(read('vantage-agent.sh')).toContain('environment=/etc/vantage/agent.env');
    expect(named.filter((name) => !known.has(name))).toEqual([]);
  });
});
