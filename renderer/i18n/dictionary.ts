// What every language has to say. Derived from English, so a missing or misspelt key is a compile error.
import type { en } from './en.ts';

type Widen<T> = T extends (...args: infer A) => infer R ? (...args: A) => R : T extends string ? string : T;
export type Dictionary = { readonly [K in keyof typeof en]: Widen<(typeof en)[K]> };
/** Keys whose text takes no parameters. */
export type TextKey = { [K in keyof Dictionary]: Dictionary[K] extends string ? K : never }[keyof Dictionary];
