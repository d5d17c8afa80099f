// pytest through its --junitxml (families xunit1 and xunit2). Exit codes: 0 all passed, 1 some failed; 2 interrupted, 3 internal error,
// 4 wrong usage and 5 nothing collected are no measurement. An expected failure (xfail) is written as skipped and is one here: code under
// test can call pytest.xfail() itself.
import { junitAdapter } from './junit.ts';

export const pytest = junitAdapter('pytest', (exitCode) => exitCode === 1);
