// Asks the server, and follows what changes. A token, where one is needed, is kept in this tab's
// session storage: it is in no address, and goes with the tab.

const TOKEN = "karmada-lens-token";
// An answer that takes longer has been lost on the way: the server ends its own work before.
const PATIENCE = 60000;
// The server says each 15 s that it is there. After this time without a word the path to it has gone.
const SILENCE = 45000;

// Behind the control plane's API server it is that server, or what stands before it, that knows who
// looks: by cookies and certificates of the browser, or not at all, as kubectl proxy.
const IS_BEHIND = location.pathname.endsWith("/proxy/");

export class Refused extends Error {
  constructor(code, message) {
    super(message);
    this.code = code;  // 0: there was no answer.
  }
}

// Whether the text can be sent as a token: a header has no other characters, and a token no blanks.
export function isToken(text) {
  return /^[!-+\--~]+$/.test(text);
}

export function setToken(token) {
  if (token) sessionStorage.setItem(TOKEN, token);
  else sessionStorage.removeItem(TOKEN);
}

function headers() {
  if (IS_BEHIND) return {};
  const token = sessionStorage.getItem(TOKEN);
  if (token && !isToken(token)) {
    setToken("");
    throw new Refused(401, "What was given cannot be a token.");
  }
  return token ? {Authorization: `Bearer ${token}`} : {};
}

async function send(path, options) {
  try {
    return await fetch(path, {...options, headers: headers(), cache: "no-store",
      credentials: IS_BEHIND ? "same-origin" : "omit"});
  } catch (error) {
    if (error.name === "AbortError" || error instanceof Refused) throw error;
    throw new Refused(0, "The server of this page does not answer. See whether karmada-lens serve still runs.");
  }
}

async function check(response) {
  if (response.ok) return response;
  let message = `the server answered with ${response.status}`;
  try {
    const body = await response.json();
    message = body.error?.message ?? body.message ?? message;  // Its own, or the API server's.
  } catch { /* It is an answer of somebody between. */ }
  // Only this server wants a token.
  throw new Refused(IS_BEHIND && response.status === 401 ? 403 : response.status, message);
}

// Returns the answer as text, so that it can be compared with an earlier one. `signal` ends the question.
export async function ask(path, parameters, signal, patience = PATIENCE) {
  const query = new URLSearchParams(parameters ?? []).toString();
  const end = new AbortController();
  const endNow = () => end.abort();
  const timer = setTimeout(endNow, patience);
  signal?.addEventListener("abort", endNow);
  if (signal?.aborted) endNow();
  try {
    const response = await check(await send(`api/${path}${query ? `?${query}` : ""}`, {signal: end.signal}));
    return await response.text();
  } catch (error) {
    if (error.name !== "AbortError" || signal?.aborted) throw error;
    throw new Refused(0, `There was no answer within ${patience / 1000} s.`);
  } finally {
    clearTimeout(timer);
    signal?.removeEventListener("abort", endNow);
  }
}

export async function askJson(path, parameters, signal) {
  return JSON.parse(await ask(path, parameters, signal));
}

// ---- Live updates: one connection while the tab is looked at.

function* eventsIn(text) {
  for (const block of text.split("\n\n")) {
    const event = /^event: (.*)$/m.exec(block);
    const data = /^data: (.*)$/m.exec(block);
    if (event && data) yield {name: event[1], data: JSON.parse(data[1])};
  }
}

// `onWord` is called for whatever comes, also for what only says that the server is there.
async function read(response, onWord, onEvent) {
  const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
  let rest = "";
  for (;;) {
    const {value, done} = await reader.read();
    if (done) return;
    onWord();
    rest += value;
    const end = rest.lastIndexOf("\n\n");
    if (end < 0) continue;
    for (const event of eventsIn(rest.slice(0, end))) onEvent(event);
    rest = rest.slice(end + 2);
  }
}

// handlers: {onNews(data), onEnd(error)}. onEnd is called each time the connection ends, and when nothing
// has come for SILENCE; a new one is tried after a pause that grows to 15 s, unless the token was refused.
export function follow({onNews, onEnd}) {
  let abort = null;
  let timer = null;
  let pause = 1000;

  async function run() {
    const own = new AbortController();
    abort = own;
    let isAgain = false;
    let isSilent = false;
    let watch = null;
    const onWord = () => {
      clearTimeout(watch);
      watch = setTimeout(() => {
        isSilent = true;
        own.abort();
      }, SILENCE);
    };
    onWord();
    try {
      const response = await check(await send("api/updates", {signal: own.signal}));
      await read(response, onWord, (event) => {
        pause = 1000;
        if (event.name === "token") throw new Refused(401, "The token has expired.");
        isAgain = event.name === "again";  // Who looks is to be found out again.
        if (!isAgain) onNews(event.data);
      });
      if (isAgain) return void run();
      throw new Refused(0, "The server has ended the live updates.");
    } catch (error) {
      if (abort !== own || (error.name === "AbortError" && !isSilent)) return;
      abort = null;
      onEnd(isSilent ? new Refused(0, `Nothing has come from the server of this page for ${SILENCE / 1000} s.`) : error);
      if (error.code === 401 || document.hidden) return;
      timer = setTimeout(run, pause);
      pause = Math.min(pause * 2, 15000);
    } finally {
      clearTimeout(watch);
    }
  }

  function stop() {
    clearTimeout(timer);
    abort?.abort();
    abort = null;
  }

  function start() {
    stop();
    pause = 1000;
    if (!document.hidden) run();
  }

  document.addEventListener("visibilitychange", () => (document.hidden ? stop() : start()));
  return {start, stop};
}
