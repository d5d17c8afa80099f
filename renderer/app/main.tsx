// Entry of the page in both hosts.
import './jitless.ts';
import '#renderer/styles/index.css';
import { createWebDesktop } from '#renderer/client/desktop.web.ts';
import { createEngine } from '#renderer/client/engine.ts';
import { portOpener } from '#renderer/client/open-port.ts';
import { ensure } from '#shared/lib/assert.ts';
import type { DesktopApi } from '#shared/contract/desktop.ts';
import { mount } from './mount.tsx';

declare global {
  interface Window {
    /** Put there by the preload in Electron; absent in a browser. */
    readonly desktop?: DesktopApi;
  }
}

const desktop = window.desktop ?? createWebDesktop();
mount(ensure(document.getElementById('root'), 'element #root'), createEngine(portOpener(desktop), desktop));
