// Tool calls that a model wrote as text, because the server parses none: Qwen's JSON form and the XML form of its coding models.
//
//   <tool_call>{"name": "run", "arguments": {"command": "ls"}}</tool_call>
//   <tool_call><function=run><parameter=command>ls</parameter></function></tool_call>

export type TextToolCall = { readonly name: string; readonly arguments: Readonly<Record<string, unknown>> };
export type ToolText = {
  /** The answer without the calls. */
  readonly text: string;
  readonly calls: readonly TextToolCall[];
  /** What began as a call and is none: cut or not well formed. Never repaired. */
  readonly broken: readonly string[];
};

const open = '<tool_call>';
const close = '</tool_call>';

const isRecord = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

const readJson = (body: string): TextToolCall | null => {
  try {
    const value: unknown = JSON.parse(body);
    if (!isRecord(value)) return null;
    const { name, arguments: given = {} } = value;
    const parsed: unknown = typeof given === 'string' ? JSON.parse(given) : given;
    return typeof name === 'string' && isRecord(parsed) ? { name, arguments: parsed } : null;
  } catch {
    return null;
  }
};

const readXml = (body: string): TextToolCall | null => {
  const head = /^<function=([A-Za-z0-9_.-]{1,64})>/.exec(body);
  if (head === null || !body.endsWith('</function>')) return null;
  const rest = body.slice(head[0].length, -'</function>'.length);
  const values: Record<string, unknown> = {};
  let at = 0;
  for (;;) {
    const start = rest.indexOf('<parameter=', at);
    if (start < 0) break;
    const named = rest.indexOf('>', start);
    const end = rest.indexOf('</parameter>', named);
    if (named < 0 || end < 0) return null;
    // The form puts a line end after the opening and before the closing tag.
    values[rest.slice(start + '<parameter='.length, named)] = rest
      .slice(named + 1, end)
      .replace(/^\n/, '')
      .replace(/\n$/, '');
    at = end + '</parameter>'.length;
  }
  return { name: head[1] ?? '', arguments: values };
};

/** Takes the calls out of `text`. Never throws. */
export function readToolText(text: string): ToolText {
  const calls: TextToolCall[] = [];
  const broken: string[] = [];
  let kept = '';
  let at = 0;
  for (;;) {
    const start = text.indexOf(open, at);
    if (start < 0) break;
    kept += text.slice(at, start);
    const end = text.indexOf(close, start);
    const body = text.slice(start + open.length, end < 0 ? undefined : end).trim();
    const call = end < 0 ? null : body.startsWith('<function=') ? readXml(body) : readJson(body);
    if (call === null) broken.push(body.slice(0, 500));
    else calls.push(call);
    if (end < 0) return { text: kept, calls, broken };
    at = end + close.length;
  }
  return { text: kept + text.slice(at), calls, broken };
}
