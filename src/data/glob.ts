/**
 * A glob as a test of paths with `/`: `*` and `?` within one name, `**` over folders, `[a-z]`, `{md,mdx}`. A pattern without
 * a slash is of the file's name, wherever it lies.
 */
export function globTest(pattern: string): (path: string) => boolean {
  const whole = new RegExp(
    `^${translate(pattern.includes('/') ? pattern.replace(/^\.?\//, '') : `**/${pattern}`)}$`,
    'u',
  );
  return (path) => whole.test(path);
}

function translate(pattern: string): string {
  let out = '';
  let braces = 0;
  for (let i = 0; i < pattern.length; i++) {
    const at = pattern[i];
    if (at === '*') {
      if (pattern.startsWith('**/', i)) {
        out += '(?:[^/]+/)*';
        i += 2;
      } else if (pattern.startsWith('**', i)) {
        out += '.*';
        i++;
      } else out += '[^/]*';
    } else if (at === '?') out += '[^/]';
    else if (at === '[' && pattern.indexOf(']', i + 2) > 0) {
      const end = pattern.indexOf(']', i + 2);
      const inside = pattern.slice(i + 1, end).replace(/[\\[]/g, '\\$&');
      out += `[${inside.replace(/^!/, '^')}]`;
      i = end;
    } else if (at === '{' && pattern.indexOf('}', i) > 0) {
      braces++;
      out += '(?:';
    } else if (at === '}' && braces > 0) {
      braces--;
      out += ')';
    } else if (at === ',' && braces > 0) out += '|';
    else out += at.replace(/[\\^$.*+?()[\]{}|/]/, '\\$&');
  }
  return out + ')'.repeat(braces);
}
