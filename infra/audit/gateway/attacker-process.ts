// Runs one attack until it is killed. Arguments: index of the attack, address of the WebSocket, token of the stolen agent, address to attack from.
import { gatewayAttacks } from './attacks.ts';

const [index = '', url = '', token = '', address = ''] = process.argv.slice(2);

process.on('disconnect', () => process.exit());
process.send?.('started');
// A gateway that ends the attack has won.
await gatewayAttacks[Number(index)]!.run({ url, token, address }).catch(() => undefined);
