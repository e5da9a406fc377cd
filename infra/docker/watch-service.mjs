// Measures the effect of an upgrade, a restart or a fault on callers: starts a check or reads `/healthz`, in turn, ten
// times a second until it is interrupted, and then reads every accepted check.
//   node infra/docker/watch-service.mjs [http://localhost:8080]
// Exit status 0 if each request got an answer within 10 s (502 and 504, which a proxy sends, do not count as one) and
// each accepted check was completed.
const service = process.argv[2] ?? 'http://localhost:8080';
const EVERY_MS = 100;
const PATIENCE_MS = 10_000;
const COMPLETES_WITHIN_MS = 60_000;

const answers = {};
const unanswered = [];
const accepted = [];
let slowestMs = 0;
const underWay = new Set();

const ask = async (path, body) => {
  const request = { signal: AbortSignal.timeout(PATIENCE_MS) };
  if (body !== undefined) {
    Object.assign(request, {
      method: 'POST',
      body: JSON.stringify(body),
      headers: { 'content-type': 'application/json' },
    });
  }
  const response = await fetch(`${service}${path}`, request);
  return { status: response.status, body: await response.json() };
};

async function askOnce(count) {
  const at = new Date();
  const what = count % 2 === 0 ? 'POST /check' : 'GET /healthz';
  const started = performance.now();
  try {
    const { status, body } = await (count % 2 === 0
      ? ask('/check', { type: 'tcp', host: '127.0.0.1', port: 9 })
      : ask('/healthz'));
    const answer = [what, status, ...(status < 400 ? [] : [body.detail ?? body.title])].join(' ');
    answers[answer] = (answers[answer] ?? 0) + 1;
    if (status === 202) accepted.push(body.checkId);
    if (status === 502 || status === 504) unanswered.push(`${at.toISOString()} ${what}: ${status}`);
  } catch (error) {
    unanswered.push(`${at.toISOString()} ${what}: ${error.cause?.code ?? error.name}`);
  }
  slowestMs = Math.max(slowestMs, performance.now() - started);
}

let count = 0;
const asking = setInterval(() => {
  const asked = askOnce((count += 1)).finally(() => underWay.delete(asked));
  underWay.add(asked);
}, EVERY_MS);

async function isCompleted(id) {
  const until = performance.now() + COMPLETES_WITHIN_MS;
  while (performance.now() < until) {
    // A read that fails loses no check: a later one may succeed.
    const answer = await ask(`/check/${id}/results`).catch(() => undefined);
    if (answer?.status === 200 && answer.body.status === 'completed') return true;
    if (answer?.status === 404) return false;
    await new Promise((resolve) => setTimeout(resolve, 1_000));
  }
  return false;
}

async function finish() {
  clearInterval(asking);
  await Promise.all(underWay);
  const lost = [];
  for (const id of accepted) if (!(await isCompleted(id))) lost.push(id);
  console.log(
    JSON.stringify(
      { asked: count, answers, slowestMs: Math.round(slowestMs), unanswered, accepted: accepted.length, lost },
      null,
      2,
    ),
  );
  process.exit(unanswered.length === 0 && lost.length === 0 ? 0 : 1);
}
for (const signal of ['SIGINT', 'SIGTERM']) process.once(signal, () => void finish());
