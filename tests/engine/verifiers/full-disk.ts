// Verifications on a disk of 1 MB, as verdicts to be checked by the test, which gives the disk as TMPDIR.
import { never, request, shRequest, startVerifiers, textFile } from './support.ts';

const it = await startVerifiers();
const { contract, verifierFiles } = shRequest(`report '{"a":0,"b":0}'`);
const verdictOn = async (bytes: number) => {
  const { verdict } = await it.service.verify(request(contract, verifierFiles, [textFile('data.bin', new Uint8Array(bytes))]), never);
  return { verdict, leftovers: it.leftovers() };
};
const verdicts = [await verdictOn(2_000_000), await verdictOn(1_000)];
await it.stop();
process.stdout.write(JSON.stringify(verdicts));
