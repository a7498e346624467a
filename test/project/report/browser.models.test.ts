/**
 * The page in a real browser: it parses into our elements only, and is drawn at two widths, dark and light.
 * Chromium is found by DOCOPT_CHROME or its usual names; where there is none the title says so.
 */
import { execFile, spawnSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { describe, expect, it } from 'vitest';
import { htmlReport } from '../../../project/report/html.ts';
import { temporaryFolder } from '../../support/temp-folder.ts';
import { nastyModel } from './nasty.ts';

const NAMES = ['chromium', 'chromium-browser', 'google-chrome', 'google-chrome-stable', 'chrome'];
const browser = [process.env.DOCOPT_CHROME, ...NAMES].find(
  (name) => name !== undefined && spawnSync(name, ['--version'], { timeout: 30_000 }).status === 0,
);

const why = browser === undefined ? ' (skipped: no Chromium; install one, or name it by DOCOPT_CHROME)' : '';

describe.skipIf(browser === undefined)(`the page in a browser${why}`, () => {
  const folder = temporaryFolder();
  const page = join(folder, 'report.html');
  writeFileSync(page, htmlReport(nastyModel()));

  const chromium = async (...flags: string[]): Promise<string> => {
    const common = ['--headless', '--no-sandbox', '--disable-gpu', `--user-data-dir=${join(folder, 'profile')}`];
    const { stdout } = await promisify(execFile)(browser!, [...common, ...flags, `file://${page}`], {
      maxBuffer: 1 << 26,
      timeout: 120_000,
    });
    return stdout;
  };

  it('parses into our elements: one script, no image, no link, no handler', async () => {
    const dom = await chromium('--dump-dom');
    expect(dom).toContain('DocOpt report');
    expect(dom.match(/<script/g)).toHaveLength(1);
    expect(dom).not.toMatch(/<(img|a|iframe|object|embed|link|base|form)[\s>/]/);
    // Attributes without their values, which may say anything; serialised, a value holds no quote of its own.
    const names = dom.replace(/="[^"]*"/g, '=');
    expect(names).not.toMatch(/<[a-z]+\s[^<>]*\s(on[a-z]+|href|src|style)=/);
  });

  it.each([
    ['light', 390],
    ['dark', 390],
    ['light', 1200],
    ['dark', 1200],
  ] as const)('is drawn %s at %i px', async (scheme, width) => {
    const image = join(folder, `${scheme}-${width}.png`);
    const dark = scheme === 'dark' ? ['--blink-settings=preferredColorScheme=0'] : [];
    await chromium(...dark, '--hide-scrollbars', `--window-size=${width},1600`, `--screenshot=${image}`);
    const bytes = readFileSync(image);
    expect(bytes.subarray(1, 4).toString()).toBe('PNG');
    expect([bytes.readUInt32BE(16), bytes.readUInt32BE(20)]).toEqual([width, 1600]);
    // An empty page of this size compresses to a few kilobytes.
    expect(bytes.length).toBeGreaterThan(30_000);
  });
});
