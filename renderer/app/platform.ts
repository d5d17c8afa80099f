// The platform decides how keys are written. It is known where the page is mounted and needed in the smallest widget.
import { createContext, useContext } from 'react';

export const PlatformContext = createContext('linux');

/** `darwin`, `win32`, `linux`, as the shell names it. */
export const usePlatform = (): string => useContext(PlatformContext);
