import type { Contract } from '#shared/contract/contract.ts';
import type { Input } from '#shared/rpc/types.ts';
import { useQuery } from '#renderer/client/use-query.ts';
import { useText } from '#renderer/i18n/use-text.ts';
import { useUi } from '#renderer/state/store.ts';
import { Dialog } from '#renderer/widgets/Dialog.tsx';
import { Segmented } from '#renderer/widgets/Segmented.tsx';
import type { Settings } from './settings.ts';
import styles from './Overlays.module.css';

const none = {};
type Props = { readonly settings: Settings; readonly onChange: (change: Input<Contract['settings.set']>) => void };

/** Theme, language, and what the engine says about itself. */
export function SettingsPanel({ settings, onChange }: Props) {
  const { t } = useText();
  const info = useQuery('app.info', none).data;
  return (
    <Dialog label={t.navSettings} onClose={() => useUi.getState().setOverlay('none')}>
      <div className={styles['keysHead']}>
        <h2>{t.navSettings}</h2>
      </div>
      <div className={styles['settings']}>
        <Segmented
          label={t.theme}
          value={settings.theme}
          options={[
            ['system', t.themeSystem],
            ['light', t.themeLight],
            ['dark', t.themeDark],
          ]}
          onChange={(theme) => onChange({ theme })}
        />
        <Segmented
          label={t.language}
          value={settings.language}
          options={[
            ['system', t.languageSystem],
            ['en', 'English'],
            ['ko', '한국어'],
          ]}
          onChange={(language) => onChange({ language })}
        />
        {info ? (
          <dl className={styles['facts']}>
            <dt>{t.dataFolder}</dt>
            <dd>
              <code>{info.dataDir}</code>
            </dd>
            <dt>{t.sandbox}</dt>
            <dd>{info.sandbox.message}</dd>
            <dt>{t.appName}</dt>
            <dd>
              {info.version}, Node {info.node}, SQLite {info.sqlite}
            </dd>
          </dl>
        ) : null}
      </div>
    </Dialog>
  );
}
