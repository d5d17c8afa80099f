/** What went wrong, in the words of what was thrown. For people; nothing decides by it. */
export const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));
