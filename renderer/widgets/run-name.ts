// How a run is called in a line of text.

const prefix = 'run_';
/** The time part of a run's id: two runs of one machine share it only when they began in the same millisecond. */
const shown = 13;

/** A run by the beginning of its id, as the command line takes it too; the whole id belongs into the title. */
export const shortRun = (run: string): string => (run.startsWith(prefix) ? run.slice(prefix.length, prefix.length + shown) : run);
