/** Lines and progress on stderr: a bar on a terminal, a heartbeat line otherwise. */
import type { Log, Progress } from '../ports.ts';
import { visible } from '../text/visible.ts';
import { redact } from './redact.ts';

export interface LogOptions {
  readonly level: 'quiet' | 'normal' | 'verbose';
  readonly stream?: { write(text: string): unknown; isTTY?: boolean; columns?: number };
  readonly now?: () => number;
  /** Milliseconds between heartbeat lines when stderr is no terminal. */
  readonly heartbeatMs?: number;
}

export function createLog(options: LogOptions): Log {
  const stream = options.stream ?? process.stderr;
  const now = options.now ?? Date.now;
  const bar = stream.isTTY === true && options.level !== 'quiet';
  let barShown = false;

  const line = (text: string): void => {
    if (barShown) stream.write('\r\u001b[K');
    barShown = false;
    stream.write(`${visible(redact(text))}\n`);
  };
  return {
    info: (message) => options.level !== 'quiet' && line(message),
    warn: (message) => line(`warning: ${message}`),
    debug: (message) => options.level === 'verbose' && line(message),
    progress(label, total) {
      if (options.level === 'quiet') return { tick: () => {}, end: () => {} };
      const started = now();
      let done = 0;
      let last = bar ? 0 : started;
      const show = (note: string): void => {
        const at = now();
        if (at - last < (bar ? 100 : (options.heartbeatMs ?? 10_000))) return;
        last = at;
        const text = `${label} ${done}/${total}${timeLeft(done, total, at - started)}${note === '' ? '' : `  ${note}`}`;
        if (bar) {
          stream.write(`\r\u001b[K${visible(redact(text)).slice(0, (stream.columns ?? 80) - 1)}`);
          barShown = true;
        } else line(text);
      };
      const progress: Progress = {
        tick(units = 1, note = '') {
          done += units;
          show(note);
        },
        end() {
          if (barShown) stream.write('\r\u001b[K');
          barShown = false;
        },
      };
      return progress;
    },
  };
}

/** A log that says nothing, for the in-process API. */
export const silentLog: Log = {
  info: () => {},
  warn: () => {},
  debug: () => {},
  progress: () => ({ tick: () => {}, end: () => {} }),
};

function timeLeft(done: number, total: number, elapsedMs: number): string {
  if (done === 0 || done >= total) return '';
  return `, about ${duration((elapsedMs / done) * (total - done))} left`;
}

/** 75000 -> '1m15s'. */
export function duration(milliseconds: number): string {
  const seconds = Math.round(milliseconds / 1000);
  if (seconds < 60) return `${seconds}s`;
  const minutes = Math.floor(seconds / 60);
  return minutes < 60
    ? `${minutes}m${String(seconds % 60).padStart(2, '0')}s`
    : `${Math.floor(minutes / 60)}h${String(minutes % 60).padStart(2, '0')}m`;
}
