/**
 * Secrets never reach logs, manifests or error texts. Whatever the environment holds under a secret-looking name, and
 * whatever was registered, is replaced before a line leaves the process.
 */
const secrets = new Set<string>();

/** Remember a value (an API key from a flag) that must never be printed. Short values would blank ordinary words. */
export function registerSecret(value: string | undefined): void {
  if (value !== undefined && value.length >= 6) secrets.add(value);
}

export function isSecretName(name: string): boolean {
  // `maxTokens` is a number, not a secret.
  return /(KEY|TOKEN(?!S)|SECRET|PASSWORD|PASSWD|CREDENTIAL)/i.test(name);
}

/** Of the environment, or of a configuration file: sections are looked through, few levels deep as they are. */
export function registerSecretsOf(values: Readonly<Record<string, unknown>>, depth = 0): void {
  for (const [name, value] of Object.entries(values)) {
    if (typeof value === 'object' && value !== null) {
      if (depth < 8) registerSecretsOf(value as Record<string, unknown>, depth + 1);
    } else if (isSecretName(name) && value !== undefined) registerSecret(String(value));
  }
}

/** Of a command line, before anything of it can be quoted in an error: --api-key X, --api-key=X, --set apiKey=X. */
export function registerSecretsOfArguments(argv: readonly string[]): void {
  argv.forEach((argument, i) => {
    const parts = argument.replace(/^--?/, '').split('=');
    const at = parts.findIndex((part) => /^[\w.-]+$/.test(part) && isSecretName(part));
    if (at === -1) return;
    if (at < parts.length - 1) registerSecret(parts.slice(at + 1).join('='));
    else if (argument.startsWith('--')) registerSecret(argv[i + 1]);
  });
}

export function redact(text: string): string {
  let clean = text;
  for (const secret of secrets) clean = clean.replaceAll(secret, '[redacted]');
  return clean;
}
