// The command line: what it accepts, and which command answers.
import { Command, CommanderError, InvalidArgumentError, Option } from 'commander';
import { z } from 'zod';
import { OtherLimits } from '#shared/domain/budget.ts';
import { ProposerKind } from '#shared/domain/header.ts';
import { fromCallersFolder } from '../data-dir.ts';
import { audit } from './audit.ts';
import { branch } from './branch.ts';
import { exitCodes, report, UsageError, type CliIo, type CommonOptions } from './io.ts';
import { listRuns, showRun, stopRun } from './look.ts';
import { doctor } from './doctor.ts';
import { addressOf, modelChoiceAddress, ModelOptions, withModel, withServer } from './model-options.ts';
import { preflight } from './preflight.ts';
import { printTask } from './print-task.ts';
import { propose } from './propose.ts';
import { replay } from './replay.ts';
import { resumeRun } from './run.ts';
import { serveApp } from './serve.ts';
import { run } from './start.ts';

const taskArgument = "task folder (Pawl's own or Harbor's), or FILE or FILE#ID with an instance of SWE-bench";

/** Runs one command line (without the program's name) and returns its exit code. Never rejects. */
export async function runCli(argv: readonly string[], io: CliIo): Promise<number> {
  const json = argv.includes('--json');
  let code: number = exitCodes.ok;
  const printed: Promise<void>[] = [];
  const program = createProgram(
    io,
    (text) => printed.push(io.out(text)),
    (result) => {
      code = result;
    },
  );
  try {
    await program.parseAsync(argv, { from: 'user' });
    return code;
  } catch (error) {
    if (error instanceof CommanderError) {
      // Help and version were asked for and have been printed.
      if (error.exitCode === 0) {
        await Promise.all(printed);
        return exitCodes.ok;
      }
      return report(io, json, new UsageError(usageMessage(error), usageField(error)));
    }
    return report(io, json, error);
  }
}

function createProgram(io: CliIo, print: (text: string) => void, done: (code: number) => void): Command {
  const program = new Command('pawl')
    .description('Governed runs: a proposer suggests, a verifier ranks, only strict progress is kept.')
    .version(io.version, '--version', 'print the version')
    .helpOption('-h, --help', 'print this help')
    .helpCommand('help [command]', 'print this help, or that of one command')
    .addOption(
      new Option('--data <dir>', 'data folder (default: the application data folder of the platform, or PAWL_DATA)').argParser(notEmpty),
    )
    .option('--json', 'print exactly one JSON document on stdout', false)
    .configureHelp({ showGlobalOptions: true })
    .addHelpText('after', ({ command }) => `\n${command.commands.map(helpOf).join('\n')}`)
    .configureOutput({
      writeOut: print,
      // Errors are thrown and reported in one place, in words or as JSON.
      writeErr: () => {},
    })
    .exitOverride();
  const common = z
    .object({ data: z.string().optional(), json: z.boolean() })
    .transform(({ data, json }): CommonOptions => ({ json, ...(data === undefined ? {} : { data }) }));
  const options = () => common.parse(program.opts());

  const Choices = z.object({
    quarantine: z.array(z.string()).optional(),
    median: z.array(z.string()).optional(),
    unsandboxed: z.literal(true).optional(),
  });
  const withChoices = (command: Command) =>
    command
      .addOption(new Option('--quarantine <key>', 'make an unstable obligation advisory (may be repeated)').argParser(repeated))
      .addOption(new Option('--median <key>', 'aggregate an unstable obligation by its median (may be repeated)').argParser(repeated))
      .option('--unsandboxed', 'let candidate code run without a sandbox, with your rights; stands in the header and in every verdict');
  const slots = () => new Option('--slots <n>', 'attempts a round').argParser(integer(1, 64)).default(4);
  const RunOptions = Choices.extend({
    ...ModelOptions.shape,
    proposer: z.enum(['search', 'openai', 'command', 'recorded', 'human']),
    slots: z.int().optional(),
    seed: z.int(),
    attempts: z.int().optional(),
    limit: OtherLimits.optional(),
    command: z.string().optional(),
    commandTimeout: z.int().optional(),
    from: z.string().optional(),
    rollouts: z.int().optional(),
  });
  withChoices(withModel(program.command('run'), integer))
    .description(
      'one governed run, followed to its end; exit code 0 zero rank, 3 stopped before (or waiting for a person), 1 could not run',
    )
    .argument('<task>', taskArgument)
    .addOption(
      new Option('--proposer <kind>', 'who proposes').choices(['search', 'openai', 'command', 'recorded', 'human']).default('search'),
    )
    .addOption(new Option('--slots <n>', 'attempts a round (default: 4, or those of the record; 1 of a person)').argParser(integer(1, 64)))
    .addOption(new Option('--attempts <n>', "limit on attempts (default: the task's)").argParser(integer(1)))
    .addOption(
      new Option(
        '--limit <dimension=n>',
        `another limit than the task's, or none for no limit (may be repeated): ${[...limitNames.keys()].join(', ')}`,
      ).argParser(limit),
    )
    .addOption(new Option('--seed <n>', 'seed of the proposer').argParser(integer(0)).default(1))
    .option(
      '--command <cmd>',
      'of the proposer command: run by /bin/sh in a copy of the tree, which is the candidate as the command leaves it; your own program, with your rights and environment, not sandboxed, its tokens not metered; PAWL_INSTRUCTION and PAWL_MEMORY name files (and PAWL_AUTO and PAWL_REGISTER where automatic commands may be registered), PAWL_N, PAWL_SLOT, PAWL_DRAW and PAWL_SEED are numbers',
    )
    .addOption(new Option('--command-timeout <s>', 'seconds that the command may take (default: 600)').argParser(integer(1, 86_400)))
    .option('--from <run>', 'of the proposer recorded: the run whose stored responses are proposed again')
    .addOption(
      new Option(
        '--rollouts <n>',
        'independent runs with the seeds from --seed on; the best by potential, then rank in the order of obligations, then by the cross-check that the task declares, is picked',
      ).argParser(integer(2, 1_000)),
    )
    .action(async (task: string, given: unknown) => {
      const { limit: limits, ...chosen } = RunOptions.parse(given);
      const model = ModelOptions.parse(given);
      done(await run(io, options(), { task: fromCallersFolder(task, io.env), limits, ...chosen, model }));
    });
  withChoices(program.command('preflight'))
    .description('measure the seed of a task and name its unstable obligations; exit code 0 stable, 1 not')
    .argument('<task>', taskArgument)
    .addOption(new Option('--runs <n>', "measurements (default: the contract's)").argParser(integer(1, 1_000)))
    .addOption(slots())
    .option(
      '--print-task',
      'only print what the task was read as, and what of a foreign one could not be carried over; runs nothing',
      false,
    )
    .action(async (task: string, given: unknown) => {
      const { printTask: only, ...chosen } = Choices.extend({ runs: z.int().optional(), slots: z.int(), printTask: z.boolean() }).parse(
        given,
      );
      const path = fromCallersFolder(task, io.env);
      const unused = (['runs', 'quarantine', 'median', 'unsandboxed'] as const).find((name) => only && chosen[name] !== undefined);
      if (unused !== undefined) throw new UsageError(`--print-task measures nothing; leave out --${unused}`, `--${unused}`);
      done(only ? await printTask(io, options(), path) : await preflight(io, options(), { path, ...chosen }));
    });
  program
    .command('runs')
    .description('all runs, newest first')
    .action(async () => done(await listRuns(io, options())));
  program
    .command('show')
    .description('one run with its transitions')
    .argument('<run>', 'id of a run, or an unambiguous beginning of 8 or more characters')
    .action(async (run: string) => done(await showRun(io, options(), run)));
  program
    .command('stop')
    .description('end a live or waiting run')
    .argument('<run>', 'as for show')
    .action(async (run: string) => done(await stopRun(io, options(), run)));
  withServer(program.command('resume'))
    .description('go on with an interrupted or stopped run; exit codes as for run')
    .argument('<run>', 'as for show')
    .action(async (run: string, given: unknown) => done(await resumeRun(io, options(), run, addressOf(ModelOptions.parse(given)))));
  program
    .command('propose')
    .description(
      'one candidate that you wrote, on the head of a run that stands still or waits for you; verified and decided like every other. Exit code 0 committed, 3 recorded and not committed, 1 no attempt was made',
    )
    .argument('<run>', 'as for show')
    .addOption(new Option('--tree <dir>', 'a folder with the whole candidate').argParser(notEmpty))
    .addOption(
      new Option('--file <path=file>', 'the new text of one file, the others stay as in the head (may be repeated)').argParser(repeated),
    )
    .addOption(new Option('--remove <path>', 'a file that the candidate does not have (may be repeated)').argParser(repeated))
    .action(async (run: string, given: unknown) => {
      const texts = z.array(z.string()).default([]);
      const { tree, file, remove } = z.object({ tree: z.string().optional(), file: texts, remove: texts }).parse(given);
      const files = file.map((text) => {
        const at = text.indexOf('=');
        if (at < 1 || at === text.length - 1)
          throw new UsageError(`--file takes PATH=FILE, a path of the artifact and a file, not ${JSON.stringify(text)}`, '--file');
        return { path: text.slice(0, at), from: fromCallersFolder(text.slice(at + 1), io.env) };
      });
      done(
        await propose(io, options(), run, {
          files,
          remove,
          ...(tree === undefined ? {} : { tree: fromCallersFolder(tree, io.env) }),
        }),
      );
    });
  program
    .command('replay')
    .description('recompute the decisions of a run, or run its verifier again; exit code 0 only when everything matches')
    .argument('<run>', 'as for show')
    .option('--decisions', 'recompute every decision from requests, responses and verifier reports, and compare')
    .option('--verifier', 'run the verifier again on every certified bundle')
    .option('--proposals', 'send the stored requests to the model again (needs a model server)')
    .option('--from <bundle>', 'with --verifier: begin at this bundle (its number, RUN/SEQ or the beginning of its id)')
    .action(async (run: string, given: unknown) => {
      const flag = z.boolean().optional();
      const what = z.object({ decisions: flag, verifier: flag, proposals: flag, from: z.string().optional() }).parse(given);
      done(await replay(io, options(), run, what));
    });
  program
    .command('audit')
    .description(
      'each of the 14 published rules as held, violated or not checkable, with the records it was decided from; exit code 0 none violated, 3 one is, 1 could not run',
    )
    .argument('<run>', 'as for show')
    .action(async (run: string) => done(await audit(io, options(), run)));
  withServer(program.command('doctor'))
    .description('what a model server is and can do, found out by a few small requests; exit code 0 healthy, 1 not')
    .option('--model <name>', 'the model (default: the only one that is served)')
    .action(async (given: unknown) => {
      const chosen = ModelOptions.parse(given);
      done(await doctor(io, options(), modelChoiceAddress(chosen), chosen.model));
    });
  program
    .command('branch')
    .description('a new run from any certified bundle, under the same contract; options not given are as in its run; exit codes as for run')
    .argument('<bundle>', 'RUN/SEQ, or an unambiguous beginning of 8 or more characters of its id')
    .addOption(new Option('--proposer <kind>', 'who proposes').choices(ProposerKind.options))
    .addOption(new Option('--slots <n>', 'attempts a round').argParser(integer(1, 64)))
    .addOption(new Option('--attempts <n>', 'limit on attempts').argParser(integer(1)))
    .addOption(new Option('--seed <n>', 'seed of the proposer').argParser(integer(0)))
    .action(async (bundle: string, given: unknown) => {
      const number = z.int().optional();
      const chosen = z.object({ proposer: ProposerKind.optional(), slots: number, seed: number, attempts: number }).parse(given);
      done(await branch(io, options(), bundle, chosen));
    });
  program
    .command('serve')
    .description('the app in a browser: loopback only, with a token in the URL')
    .addOption(new Option('--port <n>', 'port (default: any free one)').argParser(integer(1, 65_535)))
    .action(async (given: unknown) => {
      const { port } = z.object({ port: z.int().optional() }).parse(given);
      done(await serveApp(io, options(), port));
    });
  return program;
}

/** The help of one command, without the options that all have. */
function helpOf(command: Command): string {
  const help = command.createHelp();
  help.showGlobalOptions = false;
  help.prepareContext({ helpWidth: helpColumns });
  return help.formatHelp(command, help);
}

const helpColumns = 100;

/** Parser of an option that may be given several times. */
const repeated = (text: string, before: string[] = []): string[] => [...before, text];

/** Parser of an option that would mean something else, or nothing, when it is empty. */
function notEmpty(text: string): string {
  if (text === '') throw new InvalidArgumentError('It must not be empty.');
  return text;
}

/** The dimensions beside attempts, as task.toml writes them. */
const limitNames: ReadonlyMap<string, keyof OtherLimits> = new Map([
  ['rounds', 'rounds'],
  ['requests', 'requests'],
  ['prompt_tokens', 'promptTokens'],
  ['completion_tokens', 'completionTokens'],
  ['verifier_runs', 'verifierRuns'],
  ['verifier_ms', 'verifierMs'],
  ['wall_ms', 'wallMs'],
]);

/** Parser of `dimension=n`, which may be given several times. */
function limit(text: string, before: OtherLimits = {}): OtherLimits {
  const [name = '', value = ''] = text.split('=', 2);
  const dimension = limitNames.get(name);
  if (dimension === undefined)
    throw new InvalidArgumentError(`It must be one of ${[...limitNames.keys()].join(', ')}, then = and a number or none.`);
  return { ...before, [dimension]: value === 'none' ? null : integer(1)(value) };
}

/** Parser of a whole number of an option. */
function integer(min: number, max = Number.MAX_SAFE_INTEGER): (text: string) => number {
  return (text) => {
    const value = /^\d+$/.test(text) ? Number(text) : Number.NaN;
    if (!Number.isSafeInteger(value) || value < min || value > max) {
      throw new InvalidArgumentError(`It must be a whole number from ${min}${max === Number.MAX_SAFE_INTEGER ? '' : ` to ${max}`}.`);
    }
    return value;
  };
}

function usageMessage(error: CommanderError): string {
  const text = error.message
    .replace(/^error: /, '')
    .replace(/\n\(Did you mean/, ' (did you mean')
    .trim();
  if (error.code === 'commander.help') return 'no command given; see pawl --help';
  return text.includes('pawl --help') ? text : `${text}; see pawl --help`;
}

/** The option or argument that commander names in its message. */
function usageField(error: CommanderError): string | null {
  return (
    /'?(--[a-z]+)|argument '([a-z]+)'/
      .exec(error.message)
      ?.slice(1)
      .find((name) => name !== undefined) ?? null
  );
}
