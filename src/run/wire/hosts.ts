/** Which hosts may be spoken to: all, those on a list, or none (offline). */
import { DocOptError } from '../../errors.ts';
import { didYouMean } from '../../text/suggest.ts';

export interface HostRules {
  /** DOCOPT_OFFLINE=1, --offline: no connection at all, not even to this machine. */
  readonly offline?: boolean;
  /** 'api.openai.com', 'localhost:8080', '*.example.com'. undefined = every host. */
  readonly hosts?: readonly string[];
}

/** The address as a URL. Throws CONFIG for what is none, ENVIRONMENT for what is not allowed. */
export function allowedUrl(address: string, service: string, { offline, hosts }: HostRules): URL {
  const url = parseAddress(address, service);
  if (offline === true) {
    throw new DocOptError('ENVIRONMENT', `${service} (${url.host}) is needed, and this run is offline`, {
      hint: 'Only what was recorded before can be used. Unset DOCOPT_OFFLINE (or leave out --offline) to connect.',
    });
  }
  if (hosts !== undefined && !hosts.some((pattern) => matches(url, pattern))) {
    throw new DocOptError(
      'ENVIRONMENT',
      `${service} is at ${url.host}, which is not on the list of allowed hosts.${didYouMean(url.host, hosts)}`,
      { hint: `Allowed: ${hosts.join(', ') || 'none'}. Add it to wire.hosts if it is to be spoken to.` },
    );
  }
  return url;
}

/** An http(s) address without a user and password in it, which would end up in manifests and logs. */
export function parseAddress(address: string, service: string): URL {
  let url: URL;
  try {
    url = new URL(address);
  } catch {
    throw new DocOptError('CONFIG', `${service}: '${address.slice(0, 100)}' is no address`, {
      hint: 'Expected something like https://api.example.com/v1',
    });
  }
  if (url.protocol !== 'http:' && url.protocol !== 'https:') {
    throw new DocOptError(
      'CONFIG',
      `${service}: an address begins with http:// or https://, this one with ${url.protocol}`,
      {
        hint: 'Expected something like https://api.example.com/v1',
      },
    );
  }
  if (url.username !== '' || url.password !== '') {
    throw new DocOptError('CONFIG', `${service}: the address of ${url.host} holds a user or a password`, {
      hint: 'Put the key into the environment variable of that service (see `authFrom` of its block).',
    });
  }
  return url;
}

function matches({ hostname, host, port, protocol }: URL, pattern: string): boolean {
  const wanted = pattern.toLowerCase();
  const full = port === '' ? `${host}:${protocol === 'https:' ? 443 : 80}` : host;
  if (wanted.startsWith('*.')) return hostname.endsWith(wanted.slice(1));
  return wanted === hostname || wanted === host || wanted === full;
}
