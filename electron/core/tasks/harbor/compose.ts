// Which services a docker-compose.yaml declares, as far as that can be told without reading YAML: the keys one level below `services:`.

/** Names of the services; null where the file is not laid out as usual. */
export function composeServices(text: string): readonly string[] | null {
  const lines = text.split(/\r?\n/).filter((line) => !/^\s*(?:#|$)/.test(line));
  const start = lines.findIndex((line) => /^services:\s*(?:#.*)?$/.test(line));
  if (start < 0) return /^["']?services["']?\s*:/m.test(text) ? null : [];
  const names: string[] = [];
  let indent: string | null = null;
  for (const line of lines.slice(start + 1)) {
    const [space = ''] = /^[ \t]*/.exec(line) ?? [];
    if (space === '') break;
    indent ??= space;
    if (space.length > indent.length) continue;
    const name = /^\s*["']?([\w.-]+)["']?\s*:/.exec(line)?.[1];
    if (space !== indent || name === undefined) return null;
    names.push(name);
  }
  return names;
}
