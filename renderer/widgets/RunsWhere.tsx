import type { AppInfo } from '#shared/contract/app.ts';
import type { ContractBody } from '#shared/domain/contract.ts';
import type { ProposerKind } from '#shared/domain/header.ts';
import { plain, type Phrase } from '#renderer/i18n/phrase.ts';
import { useText } from '#renderer/i18n/use-text.ts';
import type { Dictionary } from '#renderer/i18n/dictionary.ts';
import { PhraseText } from './PhraseText.tsx';
import styles from './RunsWhere.module.css';

type Verifier = ContractBody['verifier'];

/** Whether the verifier starts candidate code for which a sandbox of this system is needed; QuickJS needs none. */
export const needsSandbox = ({ runsCandidate, kind }: Verifier): boolean => runsCandidate && kind === 'command';

/** Whether a verification may not begin here: candidate code would run, there is no sandbox, and nobody has allowed it without. */
export const isRefusedHere = (verifier: Verifier, sandbox: AppInfo['sandbox'] | undefined, unsandboxed: boolean): boolean =>
  needsSandbox(verifier) && !unsandboxed && sandbox?.available === false;

/** A guarantee of a sandbox in words; a name that this version does not know stays as it is. */
export const guaranteeName = (name: string, t: Dictionary): string =>
  Object.entries<string>(t.guarantee).find(([known]) => known === name)?.[1] ?? name;

type Props = {
  readonly verifier: Verifier;
  readonly sandbox: AppInfo['sandbox'] | undefined;
  readonly unsandboxed: boolean;
  /** Who would propose; left out where nothing is proposed. */
  readonly proposer?: ProposerKind;
};

/** What will run and where, before it does. */
export function RunsWhere({ verifier, sandbox, unsandboxed, proposer }: Props) {
  const { t } = useText();
  return (
    <section className={styles['where']} aria-label={t.whereTitle}>
      <h3>{t.whereTitle}</h3>
      <dl>
        {proposer === undefined ? null : (
          <>
            <dt>{t.whereProposer}</dt>
            <dd>{t.whereProposal[proposer]}</dd>
          </>
        )}
        <dt>{t.whereVerifier}</dt>
        <dd>
          <PhraseText phrase={verifierPlace(verifier, sandbox, unsandboxed, t)} />
        </dd>
        <dt>{t.whereCandidate}</dt>
        <dd data-tone={needsSandbox(verifier) && (unsandboxed || verifier.isolation !== 'separate') ? 'warn' : undefined}>
          {candidatePlace(verifier, unsandboxed, t)}
        </dd>
      </dl>
      {sandbox?.available && needsSandbox(verifier) && !unsandboxed && sandbox.lacks.length > 0 ? (
        <p className={styles['lacks']}>
          {sandbox.experimental ? `${t.experimentalSandbox}: ` : ''}
          {t.sandboxLacks(sandbox.lacks.map((name) => guaranteeName(name, t)))}
        </p>
      ) : null}
      {isRefusedHere(verifier, sandbox, unsandboxed) ? (
        <output className={styles['refused']}>{t.whereNeedsSandbox(sandbox?.message ?? '')}</output>
      ) : null}
    </section>
  );
}

function verifierPlace(verifier: Verifier, sandbox: AppInfo['sandbox'] | undefined, unsandboxed: boolean, t: Dictionary): Phrase {
  if (verifier.kind === 'pure-js') return verifier.file === null ? [plain(t.none)] : t.wherePureJs(verifier.file);
  const command = verifier.command.join(' ');
  return needsSandbox(verifier) && !unsandboxed && sandbox?.backend
    ? t.whereCommandBoxed(command, sandbox.backend)
    : t.whereCommand(command);
}

function candidatePlace(verifier: Verifier, unsandboxed: boolean, t: Dictionary): string {
  if (!verifier.runsCandidate) return t.whereCandidateRead;
  if (verifier.kind === 'pure-js') return t.whereCandidateQuickJs;
  if (unsandboxed) return t.whereCandidateFree;
  return verifier.isolation === 'separate' ? t.whereCandidateSeparate : t.whereCandidateShared;
}
