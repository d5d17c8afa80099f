// What a machine has that a candidate must not reach: files, a git history, servers of every kind; and the attacks that try.
import { spawnSync } from 'node:child_process';
import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { chmodSync, existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:net';
import os from 'node:os';
import path from 'node:path';
import type { Attack } from './attack-list.ts';
import { won } from './weak.ts';

export type Machine = {
  readonly folder: string;
  readonly secretFile: string;
  /** A git folder with a branch that has the solution; null without git. */
  readonly repository: string | null;
  readonly tcpPort: number;
  readonly udpPort: number;
  /** Names of two unix sockets: one of the file system, one that is in no folder. */
  readonly socket: string;
  readonly abstract: string;
  close(): Promise<void>;
};

const secret = 'the reference solution';

const git = existsSync('/usr/bin/git') ? '/usr/bin/git' : null;

function makeRepository(folder: string): string {
  mkdirSync(folder);
  const run = (...args: string[]) => {
    const env = { HOME: folder, PATH: '/usr/bin:/bin', GIT_CONFIG_NOSYSTEM: '1' };
    const identity = ['-c', 'user.name=test', '-c', 'user.email=test@localhost'];
    const { status, stderr } = spawnSync(git ?? '', [...identity, ...args], { cwd: folder, env, encoding: 'utf8' });
    if (status !== 0) throw new Error(stderr);
  };
  run('init', '-q', '-b', 'main');
  writeFileSync(path.join(folder, 'task.txt'), 'a task\n');
  run('add', '.');
  run('commit', '-q', '-m', 'task');
  run('checkout', '-q', '-b', 'later');
  writeFileSync(path.join(folder, 'task.txt'), `${secret}\n`);
  run('commit', '-q', '-a', '-m', 'solution');
  run('checkout', '-q', 'main');
  return path.join(folder, '.git');
}

const listen = async (server: Server, where: { port: number; host: string } | { path: string }): Promise<void> => {
  server.listen(where);
  await once(server, 'listening');
};

/** Starts everything; all of it may be reached by every user of this machine. */
export async function startMachine(): Promise<Machine> {
  const folder = mkdtempSync(path.join(os.tmpdir(), 'pawl-secret-'));
  chmodSync(folder, 0o755);
  const secretFile = path.join(folder, 'solution.txt');
  writeFileSync(secretFile, secret, { mode: 0o644 });
  const repository = git === null ? null : makeRepository(path.join(folder, 'repository'));
  const servers = [0, 1, 2].map(() => createServer((connection) => connection.end(secret)));
  const socket = path.join(folder, 'socket');
  const abstract = `pawl-test-${process.pid}`;
  const [tcp, file, named] = servers;
  if (tcp === undefined || file === undefined || named === undefined) throw new Error('three servers');
  await listen(tcp, { port: 0, host: '127.0.0.1' });
  await listen(file, { path: socket });
  chmodSync(socket, 0o777);
  await listen(named, { path: `\0${abstract}` });
  const datagrams = createSocket('udp4', (_, { port, address }) => datagrams.send(secret, port, address));
  datagrams.bind(0, '127.0.0.1');
  await once(datagrams, 'listening');
  const address = tcp.address();
  return {
    folder,
    secretFile,
    repository,
    tcpPort: typeof address === 'object' && address !== null ? address.port : 0,
    udpPort: datagrams.address().port,
    socket,
    abstract,
    close: async () => {
      datagrams.close();
      await Promise.all(servers.map((server) => new Promise((resolve) => server.close(resolve))));
      rmSync(folder, { recursive: true });
    },
  };
}

const receive = (family: string, kind: string, address: string, before = ''): string => `
import socket, sys
s = socket.socket(socket.${family}, socket.${kind})
s.settimeout(3)
s.connect(${address})
${before}
print("WON" if b"reference" in s.recv(100) else "")
`;

/** Each defeated by the guarantee that it names; rank [3, 0] is that of a program that has reached nothing. */
export function machineAttacks({ secretFile, repository, tcpPort, udpPort, socket, abstract }: Machine): readonly Attack[] {
  const attack = (
    name: string,
    needs: 'filesystem' | 'network',
    argument: string,
    program: string,
    impossible: string | null = null,
  ): Attack => {
    const given = { verifierFiles: won(), command: ['python3', 'verifier/check.py', argument] };
    const weak = { ...given, unsandboxed: true };
    return { name, files: { 'attack.py': program }, weak, real: given, defeat: [3, 0], needs, impossible: () => impossible };
  };
  return [
    attack(
      'a file of ours: the reference solution',
      'filesystem',
      secretFile,
      `import sys\nprint("WON" if "reference" in open(sys.argv[1]).read() else "")\n`,
    ),
    attack(
      'a git history that knows the solution',
      'filesystem',
      repository ?? '',
      `
import subprocess, sys
log = subprocess.run(["git", "-c", "safe.directory=*", "--git-dir", sys.argv[1], "log", "--all", "-p"], capture_output=True, text=True)
print("WON" if "+the reference solution" in log.stdout else log.stderr)
`,
      repository === null ? 'git is not installed' : null,
    ),
    attack(
      'a symbolic link out of the tree',
      'filesystem',
      secretFile,
      `
import os, sys, tempfile
link = os.path.join(tempfile.gettempdir(), "link-%d" % os.getpid())
os.symlink(sys.argv[1], link)
try:
    print("WON" if "reference" in open(link).read() else "")
finally:
    os.unlink(link)
`,
    ),
    attack(
      'a server of ours on the loopback interface',
      'network',
      String(tcpPort),
      receive('AF_INET', 'SOCK_STREAM', '("127.0.0.1", int(sys.argv[1]))'),
    ),
    attack(
      'a server of ours that answers datagrams',
      'network',
      String(udpPort),
      receive('AF_INET', 'SOCK_DGRAM', '("127.0.0.1", int(sys.argv[1]))', 's.send(b"hello")'),
    ),
    attack('a unix socket of ours', 'filesystem', socket, receive('AF_UNIX', 'SOCK_STREAM', 'sys.argv[1]')),
    attack('a unix socket that is in no folder', 'network', abstract, receive('AF_UNIX', 'SOCK_STREAM', '"\\0" + sys.argv[1]')),
  ];
}
