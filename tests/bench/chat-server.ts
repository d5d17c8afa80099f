// The server of the chat benchmark: any POST is answered with as many events as its argument says.
import { once } from 'node:events';
import { createServer } from 'node:http';

const chunks = Number(process.argv[2]);
const logprobs = { content: [{ token: ' tok', logprob: -0.1, bytes: [32, 116, 111, 107], top_logprobs: [] }] };
const event = (delta: object, finish: string | null): string =>
  `data: ${JSON.stringify({ id: 'chatcmpl-1', object: 'chat.completion.chunk', created: 1, model: 'm', choices: [{ index: 0, delta, logprobs: finish === null ? logprobs : null, finish_reason: finish, token_ids: finish === null ? [123] : [] }] })}\n\n`;
const one = event({ content: ' tok' }, null);

const server = createServer(async (incoming, response) => {
  incoming.resume();
  response.writeHead(200, { 'content-type': 'text/event-stream' });
  for (let i = 0; i < chunks; i++) if (!response.write(one)) await once(response, 'drain');
  response.write(event({}, 'length'));
  response.end('data: [DONE]\n\n');
});
server.listen(0, '127.0.0.1', () => {
  const address = server.address();
  if (address !== null && typeof address !== 'string') process.send?.(`http://127.0.0.1:${address.port}/v1`);
});
