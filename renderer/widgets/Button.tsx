import type { ComponentProps } from 'react';
import { Kbd } from './Kbd.tsx';
import styles from './Button.module.css';

type Props = ComponentProps<'button'> & { readonly kind?: 'plain' | 'primary' | 'quiet'; readonly keys?: string };

/** A button labelled by a verb, with its key beside it. */
export function Button({ kind = 'plain', keys, children, className, ...rest }: Props) {
  return (
    <button type="button" {...rest} className={[styles['button'], styles[kind], className].join(' ')}>
      {children}
      {keys === undefined ? null : <Kbd keys={keys} />}
    </button>
  );
}
