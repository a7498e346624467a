/** An analyzer that remembers single words; whole texts go through. The answer is shared: do not change it. */
import type { Analyze } from './document-terms.ts';

const LONGEST = 32;
const MOST = 1 << 17;

export function rememberWords(analyze: Analyze): Analyze {
  const known = new Map<string, string[]>();
  return (text) => {
    if (text.length > LONGEST) return analyze(text);
    let terms = known.get(text);
    if (terms === undefined) {
      if (known.size >= MOST) known.clear();
      known.set(text, (terms = analyze(text)));
    }
    return terms;
  };
}
