// Asks the server, and follows what changes. A token, where one is needed, is kept in this tab's
// session storage: it is in no address, and goes with the tab.

const TOKEN = "karmada-lens-token";

// Behind the control plane's API server it is that server, or what stands before it, that knows who
// looks: by cookies and certificates of the browser, or not at all, as kubectl proxy.
const IS_BEHIND = location.pathname.endsWith("/proxy/");

export class Refused extends Error {
  constructor(code, message) {
    super(message);
    this.code = code;  // 0: there was no answer.
  }
}

export function setToken(token) {
  if (token) sessionStorage.setItem(TOKEN, token);
  else sessionStorage.removeItem(TOKEN);
}

function headers() {
  if (IS_BEHIND) return {};
  const token = sessionStorage.getItem(TOKEN);
  return token ? {Authorization: `Bearer ${token}`} : {};
}

async function send(path, options) {
  try {
    return await fetch(path, {...options, headers: headers(), cache: "no-store",
      credentials: IS_BEHIND ? "same-origin" : "omit"});
  } catch (error) {
    if (error.name === "AbortError") throw error;
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

// Returns the answer as text, so that it can be compared with an earlier one.
export async function ask(path, parameters, signal) {
  const query = new URLSearchParams(parameters ?? []).toString();
  const response = await check(await send(`api/${path}${query ? `?${query}` : ""}`, {signal}));
  return response.text();
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

async function read(response, onEvent) {
  const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
  let rest = "";
  for (;;) {
    const {value, done} = await reader.read();
    if (done) return;
    rest += value;
    const end = rest.lastIndexOf("\n\n");
    if (end < 0) continue;
    for (const event of eventsIn(rest.slice(0, end))) onEvent(event);
    rest = rest.slice(end + 2);
  }
}

// handlers: {onNews(data), onEnd(error)}. onEnd is called each time the connection ends; a new one
// is tried after a pause that grows to 15 s, unless the token was refused.
export function follow({onNews, onEnd}) {
  let abort = null;
  let timer = null;
  let pause = 1000;

  async function run() {
    abort = new AbortController();
    let isAgain = false;
    try {
      const response = await check(await send("api/updates", {signal: abort.signal}));
      await read(response, (event) => {
        pause = 1000;
        if (event.name === "token") throw new Refused(401, "The token has expired.");
        isAgain = event.name === "again";  // Who looks is to be found out again.
        if (!isAgain) onNews(event.data);
      });
      if (isAgain) return void run();
      throw new Refused(0, "The server has ended the live updates.");
    } catch (error) {
      if (error.name === "AbortError") return;
      abort = null;
      onEnd(error);
      if (error.code === 401 || document.hidden) return;
      timer = setTimeout(run, pause);
      pause = Math.min(pause * 2, 15000);
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
