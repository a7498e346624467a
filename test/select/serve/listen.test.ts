import { Hono } from 'hono';
import { describe, expect, it } from 'vitest';
import { listen } from '../../../select/serve/listen.ts';

describe('listen', () => {
  it('picks a free port, answers, and finishes what it is answering before it closes', async () => {
    const app = new Hono();
    app.get('/slow', async (c) => {
      await new Promise((resolve) => setTimeout(resolve, 150));
      return c.text('done');
    });
    const listening = await listen(app, '127.0.0.1', 0);
    expect(listening.url).toMatch(/^http:\/\/127\.0\.0\.1:\d+$/);
    const answer = fetch(`${listening.url}/slow`);
    await new Promise((resolve) => setTimeout(resolve, 40));
    const closed = listening.close(5000);
    expect(await (await answer).text()).toBe('done');
    await closed;
    await expect(fetch(`${listening.url}/slow`)).rejects.toThrow();
  });

  it('cuts what does not end within the grace', async () => {
    const app = new Hono();
    app.get('/never', () => new Promise<Response>(() => {}));
    const listening = await listen(app, '127.0.0.1', 0);
    const answer = fetch(`${listening.url}/never`).catch(() => 'cut');
    await new Promise((resolve) => setTimeout(resolve, 40));
    await listening.close(50);
    expect(await answer).toBe('cut');
  });

  it('says what to do when the port is taken', async () => {
    const first = await listen(new Hono(), '127.0.0.1', 0);
    const port = Number(new URL(first.url).port);
    await expect(listen(new Hono(), '127.0.0.1', port)).rejects.toMatchObject({
      code: 'ENVIRONMENT',
      message: expect.stringContaining(`Cannot listen on 127.0.0.1:${port}`),
      hint: expect.stringContaining('--port 0'),
    });
    await first.close(100);
  });
});
