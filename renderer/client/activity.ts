// Counts requests that are under way, so that a test can wait until the page is idle instead of sleeping.

let underWay = 0;

/** Counts `work` as under way until it settles; passes its result on. */
export function busy<T>(work: Promise<T>): Promise<T> {
  underWay++;
  return work.finally(() => {
    underWay--;
  });
}

export const requestsUnderWay = (): number => underWay;
