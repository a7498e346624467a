/** Where a service is and which key opens it: from the block, the environment, or the vendor's own address. */
import { DocOptError } from '../errors.ts';
import { registerSecret } from '../run/redact.ts';
import { parseAddress } from '../run/wire/mod.ts';

export type ServiceName =
  | 'openai'
  | 'anthropic'
  | 'cohere'
  | 'voyage'
  | 'jina'
  | 'tei'
  | 'vllm'
  | 'infinity'
  | 'chat'
  | 'http';

interface ServiceFacts {
  /** The vendor's; undefined = there is none, the user names it. */
  readonly url?: string;
  readonly urlVariables: readonly string[];
  readonly keyVariables: readonly string[];
}

const SERVICES: Readonly<Record<ServiceName, ServiceFacts>> = {
  openai: {
    url: 'https://api.openai.com/v1',
    urlVariables: ['OPENAI_BASE_URL'],
    keyVariables: ['OPENAI_API_KEY'],
  },
  anthropic: {
    url: 'https://api.anthropic.com',
    urlVariables: ['ANTHROPIC_BASE_URL'],
    keyVariables: ['ANTHROPIC_API_KEY'],
  },
  cohere: {
    url: 'https://api.cohere.com',
    urlVariables: ['COHERE_BASE_URL', 'CO_API_URL'],
    keyVariables: ['COHERE_API_KEY', 'CO_API_KEY'],
  },
  voyage: {
    url: 'https://api.voyageai.com',
    urlVariables: ['VOYAGE_BASE_URL'],
    keyVariables: ['VOYAGE_API_KEY'],
  },
  jina: { url: 'https://api.jina.ai', urlVariables: ['JINA_BASE_URL'], keyVariables: ['JINA_API_KEY'] },
  tei: { urlVariables: ['TEI_BASE_URL'], keyVariables: ['TEI_API_KEY'] },
  vllm: { urlVariables: ['VLLM_BASE_URL'], keyVariables: ['VLLM_API_KEY'] },
  infinity: { urlVariables: ['INFINITY_BASE_URL'], keyVariables: ['INFINITY_API_KEY'] },
  http: { urlVariables: [], keyVariables: ['HTTP_RETRIEVER_KEY'] },
  chat: { urlVariables: ['CHAT_BASE_URL'], keyVariables: ['CHAT_API_KEY', 'OPENAI_API_KEY'] },
};

export interface EndpointOptions {
  /** Address of the service; default: the environment's, else the vendor's. */
  readonly url?: string;
  /** Environment variable that holds the key; default: the service's own. */
  readonly authFrom?: string;
}

export interface Endpoint {
  readonly service: ServiceName;
  /** Without a slash at its end. */
  readonly url: string;
  /** undefined = none is sent. */
  readonly key?: string;
  /** `Authorization: Bearer KEY`, or nothing. */
  readonly headers: Readonly<Record<string, string>>;
}

type Environment = Readonly<Record<string, string | undefined>>;

/** The address alone, without a slash at its end; nothing has to be unlocked for an estimate. */
export function addressOf(service: ServiceName, { url }: EndpointOptions, env: Environment): string {
  const facts = SERVICES[service];
  const fromEnv = facts.urlVariables.map((name) => env[name]).find((value) => value !== undefined && value !== '');
  const address = url ?? fromEnv ?? facts.url;
  if (address === undefined) {
    throw new DocOptError('USAGE', `where is the ${service} service? Its address is missing`, {
      hint: `Name it, e.g. ${service}:http://localhost:8080, or set ${facts.urlVariables[0]}.`,
    });
  }
  parseAddress(address, service);
  return address.replace(/\/+$/, '');
}

/** Throws CONFIG for what is no address, USAGE where a vendor's key is missing. */
export function endpointOf(service: ServiceName, options: EndpointOptions, env: Environment): Endpoint {
  const { authFrom } = options;
  const facts = SERVICES[service];
  const address = addressOf(service, options, env);
  const variables = authFrom === undefined ? facts.keyVariables : [authFrom];
  const key = variables.map((name) => env[name]?.trim()).find((value) => value !== undefined && value !== '');
  const isVendors = address === facts.url;
  if (key === undefined && (isVendors || authFrom !== undefined)) {
    throw new DocOptError('USAGE', `${service} needs a key, and ${variables.join(' or ')} is not set`, {
      hint: `Set ${variables[0]} in the environment (or in a file: --env-file .env).`,
    });
  }
  registerSecret(key);
  return {
    service,
    url: address,
    key,
    headers: key === undefined ? {} : { authorization: `Bearer ${key}` },
  };
}

/** The address of a versioned route, whether or not the base already ends with a version: BASE + '/v1/rerank'. */
export function versioned({ url }: Endpoint, version: 'v1' | 'v2', route: string): string {
  return `${url.replace(/\/v\d$/, '')}/${version}${route}`;
}
