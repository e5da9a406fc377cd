import { describe, expect, it } from '@jest/globals';
import { flagsOf } from '@vantage/command-line';
import type { AnyCheckType } from '@vantage/contract';
import { checkTypes } from '@vantage/diagnostics/contract';

import { monitorFlags, selectionFlags } from './common-flags.ts';
import { parseCommand } from './parse-command.ts';

const requestOf = (line: string): unknown => {
  const command = parseCommand(line.split(' '));
  return command.kind === 'check' ? command.request : command;
};

describe('the flag --between', () => {
  it.each([
    ['traceroute --between fra-1', 'invalid --between "fra-1"; expected two probes, as in fra-1,nyc-1'],
    ['traceroute --between a,b,c', 'invalid --between "a,b,c"; expected two probes, as in fra-1,nyc-1'],
    ['traceroute example.com --between a,b', 'unexpected argument "example.com" with --between, which names both ends'],
    ['traceroute --between a,b --from de', 'unexpected --from with --between, which names both probes'],
    ['traceroute --between a,b --limit 2', 'unexpected --limit with --between, which names both probes'],
    ['ping --between a,b', 'unknown flag "--between"'],
  ])('of %s is refused', (line, fault) => {
    expect(requestOf(line)).toMatchObject({ kind: 'invalid', faults: [fault] });
  });
});

/** Commands that a message suggests, each split into words as by a shell; those with a placeholder are left out. */
function suggestedIn(faults: string): readonly (readonly string[])[] {
  return [...faults.matchAll(/"vantage ([^"]+)"/g)]
    .map(([, command]) => command!.split(' ').map((word) => word.replaceAll("'", '')))
    .filter((words) => !words.some((word) => word === 'PORT' || word === 'HOST'));
}

describe('the words on the command line', () => {
  it.each([
    ['ping example.com', { type: 'ping', host: 'example.com' }],
    ['ping example.com --count 2 --family 6', { type: 'ping', host: 'example.com', options: { count: 2, family: 6 } }],
    ['ping example.com --family both', { type: 'ping', host: 'example.com', options: { family: 'both' } }],
    ['tcp example.com 443', { type: 'tcp', host: 'example.com', port: 443 }],
    ['tcp --port=443 example.com', { type: 'tcp', host: 'example.com', port: 443 }],
    ['dns example.com MX', { type: 'dns', host: 'example.com', recordType: 'MX' }],
    [
      'dns example.com --no-recursion-desired',
      { type: 'dns', host: 'example.com', options: { recursionDesired: false } },
    ],
    ['http https://example.com --insecure-ssl', { type: 'http', host: 'https://example.com', insecureSSL: true }],
    ['ping example.com --from de,AS3320', { type: 'ping', host: 'example.com', locations: ['de', 'AS3320'] }],
    ['ping example.com --from de --from jp', { type: 'ping', host: 'example.com', locations: ['de', 'jp'] }],
    ['ping example.com --probes fra-1,nyc-1', { type: 'ping', host: 'example.com', probes: ['fra-1', 'nyc-1'] }],
    ['http example.com', { type: 'http', host: 'https://example.com' }],
    ['http example.com:80', { type: 'http', host: 'http://example.com:80' }],
    ['http example.com:8443', { type: 'http', host: 'https://example.com:8443' }],
    ['tcp example.com:443', { type: 'tcp', host: 'example.com', port: 443 }],
    ['tcp https://example.com/', { type: 'tcp', host: 'example.com', port: 443 }],
    [
      'mtr example.com --from de',
      { type: 'traceroute', host: 'example.com', options: { rounds: 10, endWithStream: true }, locations: ['de'] },
    ],
    ['traceroute example.com --flows all', { type: 'traceroute', host: 'example.com', options: { flows: 'all' } }],
    ['traceroute --between fra-1,nyc-1', { type: 'traceroute', between: ['fra-1', 'nyc-1'] }],
    [
      'mtr --between=fra-1,nyc-1',
      { type: 'traceroute', between: ['fra-1', 'nyc-1'], options: { rounds: 10, endWithStream: true } },
    ],
    ['traceroute example.com --flows 4', { type: 'traceroute', host: 'example.com', options: { flows: 4 } }],
    [
      'mtr example.com --rounds=30',
      { type: 'traceroute', host: 'example.com', options: { rounds: 30, endWithStream: true } },
    ],
    ['--server http://a.example --json ping example.com', { type: 'ping', host: 'example.com' }],
    [
      '--server=http://a.example mtr example.com',
      { type: 'traceroute', host: 'example.com', options: { rounds: 10, endWithStream: true } },
    ],
    [
      'traceroute example.com --rounds 5 --json',
      { type: 'traceroute', host: 'example.com', options: { rounds: 5, endWithStream: true } },
    ],
    [
      'ping example.com --count 16 --watch 30',
      { type: 'ping', host: 'example.com', options: { count: 16, endWithStream: true } },
    ],
    ['ping example.com --limit 3', { type: 'ping', host: 'example.com', limit: 3 }],
    ['tcp a.example:443 443', { type: 'tcp', host: 'a.example', port: 443 }],
    ['tcp https://a.example 8443', { type: 'tcp', host: 'a.example', port: 8443 }],
    ['tcp https://a.example', { type: 'tcp', host: 'a.example', port: 443 }],
    ['tcp https://a.example:443/', { type: 'tcp', host: 'a.example', port: 443 }],
    ['dns 192.0.2.1 PTR', { type: 'dns', host: '192.0.2.1', recordType: 'PTR' }],
  ])('make a request of “%s”', (line, request) => {
    expect(requestOf(line)).toEqual(request);
  });

  it('may have flags of every command before it', () => {
    expect(parseCommand(['--key', 'k', '--server', 'http://a.example', 'me', '--json'])).toEqual({
      kind: 'me',
      settings: expect.objectContaining({ server: 'http://a.example', key: 'k', json: true }),
    });
  });

  it('may give headers, each with a separate flag', () => {
    const command = parseCommand([
      'http',
      'http://example.com',
      '--headers',
      'Accept: text/plain',
      '--headers',
      'X-Time=10:30',
    ]);

    expect(command).toMatchObject({
      request: { options: { headers: { Accept: 'text/plain', 'X-Time': '10:30' } } },
    });
  });

  it.each([
    ['pong example.com', /unknown command "pong"; expected one of .*; did you mean "ping"\?/],
    ['--count 3 ping example.com', /^unexpected flag "--count" before the command; expected vantage COMMAND/],
    ['--server http://a.example', /^unexpected flag "--server" before the command/],
    ['https://example.com', /unknown command "https:.*; did you mean "vantage http https:\/\/example.com"\?/],
    ['example.com', /did you mean "vantage ping example.com"\?/],
    ['2001:db8::1', /did you mean "vantage ping 2001:db8::1"\?/],
    ['whatever example.com', /expected one of [^?]*$/],
    ['ping example.com:443', /A ping check has no port\. Did you mean "vantage tcp example\.com 443"\?/],
    ['tcp 192.0.2.1/24 80', /is a network.*"vantage tcp 192\.0\.2\.1 80"/],
    ['tcp 192.0.2.1/24 --port 80', /is a network.*"vantage tcp 192\.0\.2\.1 80"/],
    ['tcp 192.0.2.1/24', /is a network.*"vantage tcp 192\.0\.2\.1 PORT"/],
    ['tcp a.example:x', /^invalid HOST "a\.example:x": “x” is no port.*"vantage tcp a\.example PORT"\?$/],
    ['dns u@a.example mx', /user name.*"vantage dns a\.example mx"\?/],
    ['http u:p@a.example/?a=1&b', /user name.*"vantage http 'https:\/\/a\.example\/\?a=1&b'"\?/],
    ['info as3320', /^invalid HOST "as3320": .* As in "vantage info HOST --from AS3320"\.$/],
    ['dns 192.0.2.1', /An address has PTR records only.*"vantage dns 192\.0\.2\.1 PTR"\?/],
    ['dns 2001:db8::1 MX', /a name A and MX records.*"vantage dns 2001:db8::1 PTR"\?/],
    [
      'tcp a.example:29008 443',
      /^two values of PORT, 29008 in HOST and 443; expected "tcp a\.example 29008" or "tcp a\.example 443"$/,
    ],
    ['tcp [2001:db8::1]:22 --port 443', /^two values of PORT, 22 in HOST and 443;/],
    ['tcp https://a.example:443 8443', /^two values of PORT, 443 in HOST and 8443;/],
    ['ping a.example -4', /^unknown flag "-4"; did you mean "--family 4"\?$/],
    ['ping a.example -c 3', /^unknown flag "-c"; did you mean "--csv" or "--count"\?$/],
    ['http ftp://example.com', /not ftp\. Did you mean "vantage tcp example\.com 21"\?/],
    ['monitors pause web', /unknown command "monitors pause"; expected one of list, show, put, delete, watch/],
    ['monitors shwo web', /unknown command "monitors shwo".*; did you mean "show"\?$/],
    ['monitors put web pnig a.example', /unknown check type "pnig".*; did you mean "ping"\?$/],
    ['completion bsh', /unknown shell "bsh".*; did you mean "bash"\?$/],
    ['monitors show', /missing NAME; expected monitors show NAME/],
    ['monitors list web', /unexpected argument "web"/],
    ['monitors put', /missing NAME; expected monitors put NAME TYPE HOST/],
    ['monitors put web', /missing TYPE; expected monitors put NAME TYPE HOST, or --file FILE/],
    ['monitors put web pong example.com', /unknown check type "pong"/],
    ['monitors put web ping example.com --for two', /invalid --for "two"; expected an integer from 1 to 100/],
    ['monitors put web ping example.com --csv', /unknown flag "--csv"/],
    ['ping example.com --watch 1', /invalid --watch "1"; expected seconds from 5 to 86400/],
    ['ping example.com --csv --json', /unexpected --csv with --json/],
    ['ping example.com --csv --watch 9', /unexpected --watch with --csv/],
    ['ping', /missing HOST; expected ping HOST/],
    ['tcp example.com', /missing PORT; expected tcp example\.com PORT/],
    ['tcp example.com 443 80', /unexpected argument "80"/],
    ['tcp example.com https', /invalid --port "https"; expected a number/],
    ['http http://example.com --method PUT', /invalid --method "PUT"; expected one of GET, HEAD, OPTIONS/],
    ['http example.com --method HAED', /expected one of GET, HEAD, OPTIONS; did you mean "HEAD"\?$/],
    ['ping example.com --family ipv6', /expected one of 4, 6, both; did you mean "6"\?$/],
    ['traceroute example.com --protocol tpc', /expected one of icmp, udp, tcp; did you mean "tcp"\?$/],
    ['traceroute example.com --flows al', /expected a number or all; did you mean "all"\?$/],
    ['ping example.com --watch', /^flag "--watch" needs a value$/],
    ['ping example.com --json=1', /^flag "--json" takes no value$/],
    ['ping example.com --help=1', /^flag "--help" takes no value$/],
    ['http http://example.com --headers Accept', /invalid --headers "Accept"; expected "Name: value"/],
    ['ping example.com --cuont 3', /^unknown flag "--cuont"; did you mean "--count"\?$/],
    ['ping example.com --dscp -1', /^flag "--dscp" needs a value; one that begins with a hyphen is written --dscp=-…$/],
    ['ping example.com --zzzzzzz 3', /^unknown flag "--zzzzzzz"$/],
    ['ping example.com --from de --probes fra-1', /unexpected --probes with --from/],
    ['ping example.com --limit many', /--limit/],
    ['ping example.com --from=', /^invalid --from ""; expected locations, such as de,AS3320, none of them empty$/],
    ['ping example.com --from de, --from jp', /^invalid --from "de,"; expected locations/],
    ['ping example.com --probes=', /^invalid --probes ""; expected ids of probes, none of them empty$/],
    ['ping example.com --probes ,', /^invalid --probes ","; expected ids of probes/],
    ['monitors put web ping example.com --from=', /^invalid --from ""/],
    ['ping example.com --count 3 --count 4', /^unexpected "--count 4" after "--count 3"; expected one of them$/],
    ['http example.com --insecure-ssl --no-insecure-ssl', /^unexpected "--no-insecure-ssl" after "--insecure-ssl"/],
    ['me --server http://a.example --server http://b.example', /^unexpected "--server http:\/\/b\.example" after/],
    ['ping example.com --save-screenshot x.png', /--save-screenshot/],
    ['show', /missing check id; expected show ID/],
    ['show abc --csv --json', /unexpected --csv with --json/],
    ['compare a b --csv', /unknown flag "--csv"/],
    ['compare', /missing check id; expected compare ID ID/],
    ['compare abc', /missing second check id; expected compare ID ID/],
    ['compare a b c', /unexpected argument "c"/],
    ['completion powershell', /bash, zsh, fish/],
    ['me you', /unexpected argument "you"/],
  ])('are refused where they are wrong: %s', (line, fault) => {
    const command = parseCommand(line.split(' '));

    expect(command).toMatchObject({ kind: 'invalid' });
    const faults = command.kind === 'invalid' ? command.faults.join('\n') : '';
    expect(faults).toMatch(fault);
    for (const meant of suggestedIn(faults)) expect(parseCommand(meant)).toMatchObject({ kind: 'check' });
  });

  it('name every fault at once', () => {
    expect(parseCommand(['tcp', 'h', 'x', '--attempts', 'y'])).toMatchObject({
      faults: ['invalid --port "x"; expected a number', 'invalid --attempts "y"; expected a number'],
    });
  });

  it.each([
    [[], undefined],
    [['help'], undefined],
    [['--help'], undefined],
    [['help', 'dns'], 'dns'],
    [['dns', '--help'], 'dns'],
    [['--server', 'http://a.example', 'help', 'dns'], 'dns'],
    [['--json', '--help', 'dns'], 'dns'],
    [['dns', '-h'], 'dns'],
    [['me', '-h'], 'me'],
    [['help', 'mtr'], 'mtr'],
    [['mtr', '--help'], 'mtr'],
    [['help', 'show'], 'show'],
    [['show', '--help'], 'show'],
    [['compare', '--help'], 'compare'],
    [['probes', '--help'], 'probes'],
    [['completion', '--help'], 'completion'],
    [['completion', 'bash', '--help'], 'completion'],
    [['help', 'completion'], 'completion'],
    [['help', 'version'], undefined],
  ])('ask for help: %j', (words, of) => {
    expect(parseCommand(words)).toEqual({ kind: 'help', of });
  });

  it.each([['-95dCEFciMRIZB3kfyVANA'], ['--5dCEFciMRIZB3kfyVANA'], ['-h5dCEFciMRIZB3kfyVANA']])(
    'show a check whose id begins with a hyphen: %s',
    (checkId) => {
      expect(parseCommand(['show', checkId])).toMatchObject({ kind: 'show', checkId });
      expect(parseCommand(['show', '--server', 'http://a.example', checkId, '--json'])).toMatchObject({
        kind: 'show',
        checkId,
        settings: { server: 'http://a.example', json: true },
      });
      expect(parseCommand(['show', '--', checkId])).toMatchObject({ kind: 'show', checkId });
      expect(parseCommand(['me', checkId])).toMatchObject({ kind: 'invalid' });
      expect(parseCommand(['show', checkId, checkId])).toMatchObject({ kind: 'invalid' });
    },
  );

  it('compare two checks in the order given', () => {
    const [a, b] = ['abcdefghijklmnopqrstuv', '-bcdefghijklmnopqrstuv'];

    expect(parseCommand(['compare', a, b])).toMatchObject({ kind: 'compare', checkIds: [a, b] });
    expect(parseCommand(['compare', b, `https://example.com/c/${a}`])).toMatchObject({ checkIds: [b, a] });
  });

  it('show a check by its id or by a link to it', () => {
    const shown = { kind: 'show', checkId: 'abcdefghijklmnopqrstuv' };

    expect(parseCommand(['show', 'abcdefghijklmnopqrstuv'])).toMatchObject(shown);
    expect(parseCommand(['show', 'https://example.com/c/abcdefghijklmnopqrstuv'])).toMatchObject(shown);
    expect(parseCommand(['show', '/check/abcdefghijklmnopqrstuv/results'])).toMatchObject(shown);
    expect(parseCommand(['show', 'https://example.com/check/abcdefghijklmnopqrstuv?lang=en'])).toMatchObject(shown);
  });
});

describe('the words after monitors', () => {
  const actionOf = (words: readonly string[]): unknown => {
    const command = parseCommand(['monitors', ...words]);
    return command.kind === 'monitors' ? command.action : command;
  };

  it.each([
    ['--server http://a.example --json monitors show web', { verb: 'show', name: 'web' }],
    ['--json monitors', { verb: 'list' }],
    ['monitors --server=http://a.example list', { verb: 'list' }],
    ['--server http://a.example monitors delete web --json', { verb: 'delete', name: 'web' }],
    [
      '--json monitors put web ping -- a.example',
      { verb: 'put', name: 'web', definition: { request: { check: { type: 'ping', host: 'a.example' } } } },
    ],
    [
      '--server http://a.example monitors put web ping a.example --every 5m',
      {
        verb: 'put',
        name: 'web',
        definition: { request: { check: { type: 'ping', host: 'a.example' }, every: '5m' } },
      },
    ],
  ])('may follow common flags: %s', (line, action) => {
    expect(parseCommand(line.split(' '))).toMatchObject({ kind: 'monitors', action });
  });

  it.each([
    [[], { verb: 'list' }],
    [['--json'], { verb: 'list' }],
    [['show', 'web'], { verb: 'show', name: 'web' }],
    [['watch', 'web', '--json'], { verb: 'watch', name: 'web' }],
    [['put', 'web', '--file', 'web.json'], { verb: 'put', name: 'web', definition: { file: 'web.json' } }],
  ])('are read: %j', (words, action) => {
    expect(actionOf(words)).toEqual(action);
  });

  it('make the definition of a monitor, with the flags of its check', () => {
    const words = ['put', 'web', 'tcp', 'example.com', '443', '--attempts', '2', '--from', 'de,nl', '--limit', '5'];

    expect(actionOf([...words, '--every', '30s', '--when', '3 of 5', '--networks', '2', '--for', '3'])).toEqual({
      verb: 'put',
      name: 'web',
      definition: {
        request: {
          check: {
            type: 'tcp',
            host: 'example.com',
            port: 443,
            options: { attempts: 2 },
            locations: ['de', 'nl'],
            limit: 5,
          },
          every: '30s',
          alarm: { when: '3 of 5', networks: 2, for: 3 },
        },
      },
    });
    expect(actionOf(['put', 'web', 'ping', 'example.com'])).toMatchObject({
      definition: { request: { check: { type: 'ping', host: 'example.com' }, every: '60s' } },
    });
  });

  it('have no flag that a check type has too', () => {
    const types = Object.values<AnyCheckType>(checkTypes);
    const own = new Set(types.flatMap((type) => flagsOf(type).map(({ name }) => name)));

    expect(Object.keys({ ...monitorFlags, ...selectionFlags }).filter((name) => own.has(name))).toEqual([]);
  });
});
