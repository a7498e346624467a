/**
 * Secrets never reach logs, manifests or error texts. Whatever the environment holds under a secret-looking name, and
 * whatever was registered, is replaced before a line leaves the process.
 */
const secrets = new Set<string>();

/** Remember a value (an API key from a flag) that must never be printed. Short values would blank ordinary words. */
export function registerSecret(value: string | undefined): void {
  if (value !== undefined && value.length >= 6) secrets.add(value);
}

export function registerSecretsOf(env: Readonly<Record<string, string | undefined>>): void {
  for (const [name, value] of Object.entries(env)) {
    if (/(KEY|TOKEN|SECRET|PASSWORD|PASSWD|CREDENTIAL)/i.test(name)) registerSecret(value);
  }
}

export function redact(text: string): string {
  let clean = text;
  for (const secret of secrets) clean = clean.replaceAll(secret, '[redacted]');
  return clean;
}
