// Numbers, dates and lists in the language of the interface.
import type { Part } from './phrase.ts';

export type Language = 'en' | 'ko';

export type Format = {
  readonly language: Language;
  /** Grouped integer: 12,345. */
  int(value: number): string;
  /** Short form for tight places: 412K. The exact value belongs into the title. */
  compact(value: number): string;
  /** A duration in ms with the unit that reads best. */
  duration(ms: number): string;
  /** Date and time to the minute, in the reader's time zone. */
  dateTime(iso: string): string;
  bytes(value: number): string;
  /** Joins parts as the language joins a list: "a, b and c". */
  list(items: readonly (readonly Part[])[]): Part[];
};

const minute = 60_000;
export function createFormat(language: Language): Format {
  const int = new Intl.NumberFormat(language);
  const compact = new Intl.NumberFormat(language, { notation: 'compact', maximumFractionDigits: 1 });
  const one = new Intl.NumberFormat(language, { maximumFractionDigits: 1 });
  const dateTime = new Intl.DateTimeFormat(language, { dateStyle: 'medium', timeStyle: 'short' });
  const list = new Intl.ListFormat(language, { type: 'conjunction' });
  const unit = (name: string) =>
    new Intl.NumberFormat(language, { style: 'unit', unit: name, unitDisplay: 'short', maximumFractionDigits: 1 });
  const ms = unit('millisecond');
  const seconds = unit('second');
  const minutes = unit('minute');
  const hours = unit('hour');
  return {
    language,
    int: (value) => int.format(value),
    compact: (value) => compact.format(value),
    duration: (value) =>
      value < 1000
        ? ms.format(Math.round(value))
        : value < minute
          ? seconds.format(value / 1000)
          : value < 60 * minute
            ? minutes.format(value / minute)
            : hours.format(value / (60 * minute)),
    dateTime: (iso) => dateTime.format(new Date(iso)),
    bytes: (value) => {
      const units = ['B', 'KiB', 'MiB', 'GiB'];
      let scaled = value;
      let i = 0;
      while (scaled >= 1024 && i < units.length - 1) {
        scaled /= 1024;
        i++;
      }
      return `${one.format(scaled)} ${units[i] ?? ''}`;
    },
    list: (items) => {
      const names = items.map((_, i) => String(i));
      return list
        .formatToParts(names)
        .flatMap((part): readonly Part[] =>
          part.type === 'element' ? (items[Number(part.value)] ?? []) : [{ text: part.value, tone: 'plain' }],
        );
    },
  };
}
