import { describe, expect, it } from 'vitest';
import { globalSwitch, globalText, misspelledVariables } from '../../../src/config/environment.ts';
import { runHere } from '../../support/in-process.ts';
import { folderWith } from '../../support/temp-folder.ts';

describe('variables', () => {
  it('speak for the global flags too', () => {
    expect(globalSwitch('morph', 'json', { DOCOPT_JSON: '1' })).toBe(true);
    expect(globalSwitch('morph', 'json', { DOCOPT_JSON: '1', MORPH_JSON: 'no' })).toBe(false);
    expect(globalSwitch('docopt', 'json', { MORPH_JSON: '1', DOCOPT_JSON: '' })).toBe(false);
    expect(() => globalSwitch('docopt', 'quiet', { DOCOPT_QUIET: 'perhaps' })).toThrow("DOCOPT_QUIET 'perhaps'");
    expect(globalText('docopt', 'env-file', { DOCOPT_ENV_FILE: 'x' })).toBe('x');
  });

  it('that are nearly one of ours are named, others are not', () => {
    const env = {
      DOCOPT_RETREIVER: 'bm25',
      MORPH_PROT: '1',
      DOCOPT_RETRIEVER_K1: '2',
      DOCOPT_JSON: '1',
      DOCOPT_OFFLINE: '1',
      DOCOPT_DATA: 'x',
      MORPH_API_KEY: 'x',
      DOCOPT_UNRELATED_THING: '1',
      RETREIVER: 'x',
    };
    expect(misspelledVariables(env)).toEqual([
      "DOCOPT_RETREIVER is not known and was ignored. Did you mean 'DOCOPT_RETRIEVER'?",
      "MORPH_PROT is not known and was ignored. Did you mean 'MORPH_PORT'?",
    ]);
  });

  it('reach the programs: output, configuration, levels, files of variables', async () => {
    const cwd = folderWith({
      'c.yaml': 'dta: x\n',
      'vars.env': 'DOCOPT_QUIET=1\nDOCOPT_SEDE=3\n',
      'data/corpus.jsonl': '{"_id": "a", "text": "boat"}\n',
    });
    const validate = ['docopt', 'validate', 'data'];
    const json = await runHere(validate, { cwd, env: { DOCOPT_JSON: 'true', DOCOPT_VERBOSE: '1' } });
    expect(JSON.parse(json.stdout)).toMatchObject({ counts: { documents: 1 } });
    const wrong = await runHere(validate, { cwd, env: { DOCOPT_CONFIG: 'c.yaml', DOCOPT_JSON: '1' } });
    expect(JSON.parse(wrong.stdout).error.message).toContain("c.yaml: unknown key 'dta'. Did you mean 'data'?");
    const slip = await runHere(validate, { cwd, env: { DOCOPT_ENV_FILE: 'vars.env' } });
    expect(slip.stderr).toBe("warning: DOCOPT_SEDE is not known and was ignored. Did you mean 'DOCOPT_SEED'?\n");
    const missing = await runHere(validate, { cwd, env: { DOCOPT_ENV_FILE: 'none.env' } });
    expect([missing.status, missing.stderr]).toEqual([2, expect.stringContaining('none.env does not exist')]);
  });
});
