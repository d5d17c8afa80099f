// Clients of model servers by address. See README.md.
import { RpcError } from '#shared/contract/errors.ts';
import { type ChatClient, createChatClient } from '#electron/proposers/chat/client.ts';
import type { RunServer } from '#electron/store/api.ts';

export type ChatServers = {
  /** Throws bad_input, naming the field, for an address that is none and a variable that is not set. */
  client(server: RunServer): ChatClient;
  close(): Promise<void>;
};

/** vLLM's documented start runs 16 sequences at once; others are slower with more. */
const concurrency = 8;
/** Of silence in the middle of an answer. */
const stallMs = 120_000;
const maxBodyBytes = 256 * 1024 * 1024;

/** The address without a slash at the end. Throws bad_input. */
export function baseUrlOf(text: string): string {
  const url = URL.canParse(text) ? new URL(text) : null;
  if (url === null || (url.protocol !== 'http:' && url.protocol !== 'https:')) {
    throw new RpcError(
      'bad_input',
      `${JSON.stringify(text.slice(0, 200))} is no address of a server; one looks like http://127.0.0.1:8001/v1`,
      {
        field: 'server.baseUrl',
      },
    );
  }
  // It would be stored, and shown.
  if (url.username !== '' || url.password !== '')
    throw new RpcError('bad_input', 'the address of a server must not contain a password; name a variable that holds the key', {
      field: 'server.baseUrl',
    });
  return text.replace(/\/+$/, '');
}

/** `env` is where keys are looked up. */
export function createChatServers(env: Readonly<Record<string, string | undefined>>): ChatServers {
  const clients = new Map<string, ChatClient>();
  return {
    client: ({ baseUrl, keyVariable }) => {
      const address = baseUrlOf(baseUrl);
      const apiKey = keyVariable === null ? null : env[keyVariable];
      if (apiKey === undefined || apiKey === '') {
        throw new RpcError(
          'bad_input',
          `the variable ${keyVariable} is not set where the engine runs; the key is read from there and stored nowhere`,
          {
            field: 'server.keyVariable',
          },
        );
      }
      const name = JSON.stringify([address, keyVariable]);
      const known = clients.get(name);
      if (known !== undefined) return known;
      const made = createChatClient({ baseUrl: address, apiKey, stallMs, maxBodyBytes, concurrency });
      clients.set(name, made);
      return made;
    },
    close: async () => {
      await Promise.all([...clients.values()].map((client) => client.close()));
    },
  };
}
