// Imported before anything that makes a schema: the page's content policy allows no code from strings, which zod otherwise uses for speed.
import { z } from 'zod';

z.config({ jitless: true });
