// Verifier of the covering design: counts what artifact/design.json still lacks. The schema has already fixed its shape.
'use strict';

const POINTS = 9;
// A point lies in 8 pairs, and a block covers 3 of them: fewer than 3 blocks cannot do.
const NEEDED = 3;

function verify(pawl) {
  const { blocks } = JSON.parse(pawl.files['artifact/design.json']);
  const covered = new Set();
  const uses = new Array(POINTS + 1).fill(0);
  let repeated = 0;
  for (const block of blocks) {
    const points = [...new Set(block)].sort((a, b) => a - b);
    repeated += block.length - points.length;
    points.forEach((a, i) => {
      uses[a] += 1;
      for (const b of points.slice(i + 1)) covered.add(`${a} ${b}`);
    });
  }
  const missing = [];
  let lacking = 0;
  const rare = [];
  for (let a = 1; a <= POINTS; a++) {
    if (uses[a] < NEEDED) {
      lacking += NEEDED - uses[a];
      rare.push(`${a} is in ${uses[a]} blocks`);
    }
    for (let b = a + 1; b <= POINTS; b++) if (!covered.has(`${a} ${b}`)) missing.push(`{${a}, ${b}}`);
  }
  return {
    nonce: pawl.nonce,
    tree: pawl.tree,
    contract: pawl.contract,
    values: { distinct: repeated, uses: lacking, pairs: missing.length },
    advisory: {},
    details: {
      distinct: repeated === 0 ? '' : `${repeated} points stand twice in a block`,
      uses: rare.join('; '),
      pairs: missing.join(' '),
    },
  };
}
