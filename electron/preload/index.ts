// The only code between the page and the shell: the functions of DesktopApi, and the hand-over of the engine's port.
import { contextBridge, ipcRenderer } from 'electron';
import type { DesktopApi } from '#shared/contract/desktop.ts';

// A MessagePort cannot cross the context bridge; the page receives it as a message of its own window.
ipcRenderer.on('engine:port', (event) => window.postMessage('pawl:port', location.origin, event.ports));

contextBridge.exposeInMainWorld('desktop', {
  kind: 'electron',
  platform: process.platform,
  connectEngine: () => ipcRenderer.send('engine:connect'),
  warnBeforeClose: (warning) => ipcRenderer.send('window:warn', warning),
  pickFolder: (title) => ipcRenderer.invoke('dialog:pickFolder', title),
  onEngineStopped: (callback) => {
    const listener = (_event: unknown, reason: string) => callback(reason);
    ipcRenderer.on('engine:stopped', listener);
    return () => void ipcRenderer.off('engine:stopped', listener);
  },
  restartEngine: () => ipcRenderer.invoke('engine:restart'),
} satisfies DesktopApi);
