import type { ReactNode } from 'react';
import { visibleText } from '#renderer/i18n/foreign.ts';
import { Foreign } from './Foreign.tsx';
import styles from './Header.module.css';

/** The line on top of a screen: where one is, then facts and actions. */
export function Header({
  crumb,
  title,
  hint = '',
  children,
}: {
  crumb?: { text: string; href: string };
  title: string;
  hint?: string;
  children?: ReactNode;
}) {
  return (
    <header className={styles['header']}>
      {crumb ? (
        <>
          <a className={styles['crumb']} href={crumb.href}>
            {crumb.text}
          </a>
          <span className={styles['slash']} aria-hidden="true">
            /
          </span>
        </>
      ) : null}
      <h1 className={styles['title']} title={hint === '' ? undefined : visibleText(`${title}\n${hint}`)}>
        <Foreign text={title} />
      </h1>
      {children}
    </header>
  );
}
