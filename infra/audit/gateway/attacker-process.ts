// Runs one attack until it is killed or its parent ends. Arguments: index of the attack, address of the WebSocket,
// client address to state, tokens of the stolen agents.
import { gatewayAttacks } from './attacks.ts';

const [index = '', url = '', address = '', token = '', ...moreTokens] = process.argv.slice(2);

process.on('disconnect', () => process.exit());
process.send?.('started');
// If the attack rejects, the gateway has ended it.
await gatewayAttacks[Number(index)]!.run({ url, token, moreTokens, address }).catch(() => undefined);
