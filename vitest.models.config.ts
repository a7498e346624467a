/** The suites on real models: `npm run models` first, then `npx vitest run --config vitest.models.config.ts`. */
import { defineConfig } from 'vitest/config';
import base from './vitest.config.ts';

export default defineConfig({
  test: {
    ...base.test,
    include: ['test/**/*.models.test.ts'],
    exclude: [],
    testTimeout: 600_000,
    hookTimeout: 600_000,
  },
});
