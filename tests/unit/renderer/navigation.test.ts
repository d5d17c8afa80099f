import { describe, expect, test } from 'vitest';
import { formatPlace, parsePlace, type Place } from '#renderer/app/navigation.ts';
import { splitToken } from '#renderer/client/session.ts';

const run = 'run_0192f0c4-1a2b-7000-8000-000000000001';

describe('places', () => {
  const places: Place[] = [
    { screen: 'library' },
    { screen: 'new' },
    { screen: 'run', run, n: null, tab: null, obligation: null, hide: [] },
    { screen: 'run', run, n: 182, tab: 'verdict', obligation: 'a[b]/c:d', hide: ['tie', 'duplicate'] },
  ];
  test.each(places)('%o is read back as it was written', (place) => {
    expect(parsePlace(formatPlace(place))).toEqual(place);
  });
  test('a link is short and readable', () => {
    expect(formatPlace({ screen: 'run', run, n: 182, tab: 'record', obligation: 'clashes', hide: ['tie', 'duplicate'] })).toBe(
      `#/v1/run/${run}?n=182&tab=record&o=clashes&hide=tie,duplicate`,
    );
  });
  test.each(['', '#', '#/', '#nonsense', '#/v1/', '#/v1/run/', '#/v1/elsewhere/x', '#/vx/run/a', '#token=abc'])(
    '%j leads to the library',
    (hash) => {
      expect(parsePlace(hash)).toEqual({ screen: 'library' });
    },
  );
  test('what is wrong in a link is left out, the rest is kept', () => {
    expect(parsePlace(`#/v1/run/${run}?n=-3&tab=secrets&hide=tie,lies&n=7`)).toEqual({
      screen: 'run',
      run,
      n: null,
      tab: null,
      obligation: null,
      hide: ['tie'],
    });
    expect(parsePlace('#/v1/run/%E0%A4%A?n=1.5')).toMatchObject({ screen: 'run', run: '%E0%A4%A', n: null });
  });
});

describe('the token in the fragment', () => {
  test.each([
    ['#token=s3cret', 's3cret', ''],
    ['#/v1/library', null, '#/v1/library'],
    ['#/v1/library&token=s3cret', 's3cret', '#/v1/library'],
    ['#token=s3cret&/v1/library', 's3cret', '#/v1/library'],
    [`#/v1/run/${run}?token=a%2Bb&n=3`, 'a+b', `#/v1/run/${run}?n=3`],
    [`#/v1/run/${run}?n=3&token=abc`, 'abc', `#/v1/run/${run}?n=3`],
    ['', null, ''],
  ])('%s', (hash, token, rest) => {
    expect(splitToken(hash)).toEqual({ token, rest });
  });
});
