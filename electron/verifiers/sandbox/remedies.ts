// Why bubblewrap does not work here, and the one command that would make it work.
import { existsSync, readFileSync } from 'node:fs';

export type Finding = { readonly message: string; readonly remedy: string | null };

/** The facts about this machine that decide which advice is right. */
export type Machine = {
  /** Content of a file below /proc/sys, trimmed; null where there is none. */
  readonly sysctl: (name: string) => string | null;
  readonly exists: (path: string) => boolean;
  readonly root: boolean;
};

export const thisMachine: Machine = {
  sysctl: (name) => {
    try {
      return readFileSync(`/proc/sys/${name}`, 'utf8').trim();
    } catch {
      return null;
    }
  },
  exists: existsSync,
  root: process.getuid?.() === 0,
};

const installers: readonly (readonly [program: string, command: string])[] = [
  ['/usr/bin/apt-get', 'apt-get install -y bubblewrap'],
  ['/usr/bin/dnf', 'dnf install -y bubblewrap'],
  ['/usr/bin/pacman', 'pacman -S --noconfirm bubblewrap'],
  ['/usr/bin/zypper', 'zypper install -y bubblewrap'],
  ['/sbin/apk', 'apk add bubblewrap'],
];

const asRoot = (machine: Machine, command: string): string => (machine.root ? command : `sudo ${command}`);

/** bubblewrap is not there. */
export function notInstalled(machine: Machine): Finding {
  const command = installers.find(([program]) => machine.exists(program))?.[1];
  return {
    message: 'bubblewrap is not installed; without it nothing may run candidate code',
    remedy: command === undefined ? null : asRoot(machine, command),
  };
}

export function tooOld(machine: Machine, version: string): Finding {
  return {
    ...notInstalled(machine),
    message: `bubblewrap ${version} is too old: 0.8.0 or later is needed (sized tmpfs, --disable-userns)`,
  };
}

const appArmorProfile = 'abi <abi/4.0>,\\ninclude <tunables/global>\\nprofile bwrap /usr/bin/bwrap flags=(unconfined) {\\n  userns,\\n}\\n';

const seen = (stderr: string): string => {
  const line = stderr.trim().split('\n')[0] ?? '';
  return line === '' ? '' : ` (${line.slice(0, 300)})`;
};

/** bubblewrap is there and cannot set up its namespaces; `stderr` is what it said. */
export function cannotSetUp(machine: Machine, stderr: string): Finding {
  if (machine.sysctl('user/max_user_namespaces') === '0') {
    return {
      message: `user namespaces are switched off by user.max_user_namespaces = 0${seen(stderr)}`,
      remedy: asRoot(machine, 'sysctl -w user.max_user_namespaces=15000'),
    };
  }
  if (machine.sysctl('kernel/unprivileged_userns_clone') === '0') {
    return {
      message: `user namespaces are for root only by kernel.unprivileged_userns_clone = 0${seen(stderr)}`,
      remedy: asRoot(machine, 'sysctl -w kernel.unprivileged_userns_clone=1'),
    };
  }
  if (machine.sysctl('kernel/apparmor_restrict_unprivileged_userns') === '1') {
    const write = `printf '${appArmorProfile}' > /etc/apparmor.d/bwrap && apparmor_parser -r /etc/apparmor.d/bwrap`;
    return {
      message: `AppArmor keeps bubblewrap from making user namespaces; it needs a profile that grants them to /usr/bin/bwrap${seen(stderr)}`,
      remedy: machine.root ? write : `sudo sh -c "${write}"`,
    };
  }
  if (['/.dockerenv', '/run/.containerenv'].some(machine.exists)) {
    return {
      message: `this container may not make user namespaces${seen(stderr)}; start it so that it may (the remedy is what its start needs), or run Pawl outside of it`,
      remedy: 'docker run --security-opt seccomp=unconfined --security-opt apparmor=unconfined --security-opt systempaths=unconfined …',
    };
  }
  return {
    message: `bubblewrap cannot set up its namespaces${seen(stderr) || ' and says nothing about it'}; user namespaces must be allowed for /usr/bin/bwrap`,
    remedy: null,
  };
}
