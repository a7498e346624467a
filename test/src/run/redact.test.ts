import { describe, expect, it } from 'vitest';
import { redact, registerSecretsOf, registerSecretsOfArguments } from '../../../src/run/redact.ts';

describe('secrets', () => {
  it('of the environment, of a configuration and of a command line are known', () => {
    registerSecretsOf({ OPENAI_API_KEY: 'env-secret-1', HOME: '/home/somebody', EMPTY_KEY: undefined });
    registerSecretsOf({ apiKey: 12345678, commands: { serve: { apiKey: 'file-secret' } }, retriever: ['bm25'] });
    registerSecretsOfArguments(['serve', '--api-key', 'flag-secret', '--api-key=inline-secret']);
    registerSecretsOfArguments(['serve', '--set', 'apiKey=set-secret', '--set=apikey=typo-secret', '--token']);
    const text = 'env-secret-1 /home/somebody 12345678 file-secret flag-secret inline-secret set-secret bm25';
    expect(redact(text)).toBe('[redacted] /home/somebody [redacted] [redacted] [redacted] [redacted] [redacted] bm25');
    expect(redact('typo-secret')).toBe('[redacted]');
  });

  it('a configuration that contains itself ends', () => {
    const values: Record<string, unknown> = { token: 'round-secret' };
    values.self = values;
    registerSecretsOf(values);
    expect(redact('round-secret')).toBe('[redacted]');
  });
});
