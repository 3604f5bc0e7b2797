// Shows the view that the address names, keeps it up to date, and listens to keys.

import {el, hash, refreshTimes, visible} from "./dom.js";
import {ask, askJson, follow, Refused, setToken} from "./net.js";
import {clusters, fleet, hour, policies} from "./list-views.js";
import {explain, search, whatIf} from "./ask-views.js";
import {object} from "./object-view.js";

// A view: {title, path, parameters(route), render(answer, route), follows}. `follows`: "changes"
// reads again when the fleet has changed, "always" after each reading of it, "" never.
const VIEWS = {"": fleet, clusters, policies, search, "what-if": whatIf, hour, object, explain};

const main = document.getElementById("main");
const alertBox = document.getElementById("alert");
const stateLine = document.getElementById("state");
const news = document.getElementById("news");

let shown = {address: null, text: null};  // What is on the screen, and of which answer.
let current = 0;                          // Counts, so that a late answer does not win.
let known = null;                         // The last news about the fleet.
let lastRead = null;
let hasFailed = false;                    // The view could not be read the last time.
let isStarting = true;                    // The first view leaves the focus where it is.
let abort = new AbortController();        // Ends the question of a view that is left.

function decoded(part) {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;  // Somebody wrote it by hand.
  }
}

function routeOf(address) {
  const [path, query] = address.replace(/^#\/?/, "").split("?");
  const parts = path.split("/").map(decoded);
  return {name: parts[0], parts: parts.slice(1), query: new URLSearchParams(query ?? "")};
}

// ---- Drawing.

function placeOfFocus() {
  const at = document.activeElement;
  if (!at || !main.contains(at) || at === main) return null;
  return {id: at.id, href: at.getAttribute("href"), text: at.textContent, value: at.value};
}

function focusAgain(place) {
  if (!place) return;
  const found = [...main.querySelectorAll("a, button, input, select, summary")].find((one) =>
    (place.id ? one.id === place.id : one.getAttribute("href") === place.href && one.textContent === place.text));
  if (found && place.value !== undefined && found.value !== undefined) found.value = place.value;
  found?.focus({preventScroll: true});
}

function openedDetails() {
  return new Map([...main.querySelectorAll("details[data-name]")].map((one) => [one.dataset.name, one.open]));
}

function draw(view, content, isNew) {
  const focus = isNew ? null : placeOfFocus();
  const opened = isNew ? new Map() : openedDetails();
  main.replaceChildren(...[content].flat(3).filter(Boolean));
  for (const one of main.querySelectorAll("details[data-name]")) {
    if (opened.has(one.dataset.name)) one.open = opened.get(one.dataset.name);
  }
  const heading = main.querySelector("h1");
  document.title = `${heading ? heading.textContent : view.title} · Karmada fleet`;
  if (isNew) {
    window.scrollTo(0, 0);
    if (!isStarting) main.focus({preventScroll: true});
  } else {
    focusAgain(focus);
  }
}

// For tests/bench/page.py; only the last one of each name is kept.
function note(name) {
  performance.clearMarks(name);
  performance.mark(name);
}

function say(sentence) {
  alertBox.textContent = sentence ? visible(sentence) : "";
}

function stateText() {
  if (!lastRead) return;
  stateLine.textContent = `${known?.live ? "Live" : "Not live"} · read ${Math.round((Date.now() - lastRead) / 1000)} s ago`;
}

function askForToken(message) {
  const asked = document.getElementById("token-message");
  if (asked) {  // The view and the live updates may both be refused: what is typed stays.
    asked.textContent = visible(message);
    return;
  }
  const field = el("input", {type: "password", id: "token", autocomplete: "off", size: 40, required: true});
  const form = el("form", {class: "ask", onsubmit: (event) => {
    event.preventDefault();
    setToken(field.value.trim());
    field.value = "";
    say("");
    show();
    live.start();
  }}, el("label", null, "Bearer token of the control plane", field), el("button", null, "Look"));
  main.replaceChildren(
    el("h1", null, "A token is needed"),
    el("p", {id: "token-message", role: "status"}, message),
    el("p", null, "What you see is what the control plane lets this token read. It stays in this tab, is sent to the ",
      "control plane with each question, and is kept nowhere else. One way to get one:"),
    el("pre", null, "kubectl create token NAME --duration 8h"), form);
  shown = {address: null, text: null};
  field.focus();
}

function showError(view, error, isNew) {
  if (error.code === 401) return askForToken(error.message);
  if (!isNew && shown.address === location.hash) {
    return say(`${error.message} What you see is of an earlier time.`);
  }
  draw(view, [el("h1", null, view.title), el("p", {class: "bad"}, error.message),
    el("p", null, "This view tries again by itself when the control plane answers."),
    el("p", null, el("button", {type: "button", onclick: () => show()}, "Try again"))], true);
  shown = {address: null, text: null};
  document.body.dataset.shown = location.hash;
}

// ---- Reading.

async function show() {
  const address = location.hash;
  const route = routeOf(address);
  const view = VIEWS[route.name] ?? fleet;
  const isNew = shown.address !== address;
  const number = ++current;
  abort.abort();
  abort = new AbortController();
  for (const one of document.querySelectorAll("#views a")) {
    if (VIEWS[one.dataset.view === "fleet" ? "" : one.dataset.view] === view) one.setAttribute("aria-current", "page");
    else one.removeAttribute("aria-current");
  }
  const waiting = setTimeout(() => {
    if (number === current && isNew) draw(view, [el("h1", null, view.title), el("p", null, view.waiting ?? "Reading the control plane…")], true);
  }, 200);
  try {
    const parameters = view.parameters(route);
    const text = parameters ? await ask(view.path, parameters, abort.signal) : "null";
    if (number !== current) return;
    hasFailed = false;
    say("");
    const answer = JSON.parse(text);
    lastRead = Date.now();
    stateText();
    const comparable = text.replace(/"(readAt|tookSeconds)":("[^"]*"|[\d.e-]+)/g, "");
    if (!isNew && comparable === shown.text) return;
    draw(view, view.render(answer, route), isNew);
    shown = {address, text: comparable};
    document.body.dataset.shown = address;  // Says which view is complete.
    note("drawn");
  } catch (error) {
    if (number !== current) return;
    hasFailed = true;
    showError(view, error instanceof Refused ? error : new Refused(0, `This page failed: ${error.message}`), isNew);
  } finally {
    clearTimeout(waiting);
  }
}

const live = follow({
  onNews(data) {
    note("news");
    const changed = !known?.data || known.data.fingerprint !== data.fingerprint;
    const isFirst = !known;
    known = {live: !data.error, data};
    stateText();
    if (data.error) return say(`${data.error} What you see is of an earlier time.`);
    if (changed && !isFirst) news.textContent = visible(data.headline);
    const view = VIEWS[routeOf(location.hash).name] ?? fleet;
    if (hasFailed || shown.address !== location.hash || view.follows === "always" || (view.follows === "changes" && changed)) show();
    else {
      lastRead = Date.now();
      say("");
      stateText();
    }
  },
  onEnd(error) {
    if (known) known.live = false;
    stateText();
    if (error.code === 401) askForToken(error.message);
    else say(`${error.message} What you see is of an earlier time.`);
  },
});

// ---- Keys.

function step(direction) {
  const links = [...main.querySelectorAll("a[href], summary, button")].filter((one) => one.checkVisibility());
  if (!links.length) return;
  const at = links.indexOf(document.activeElement);
  links[(at + direction + links.length) % links.length].focus();
}

const KEYS = {
  "/": () => {
    const field = main.querySelector("input, select");
    const fold = field?.closest("details");
    if (fold) fold.open = true;
    field?.focus();
  },
  "j": () => step(1),
  "k": () => step(main.contains(document.activeElement) && document.activeElement !== main ? -1 : 0),
  "r": () => show(),
  "y": () => navigator.clipboard?.writeText(location.href).then(() => { news.textContent = "The link is copied."; }),
  "?": () => document.getElementById("help").showModal(),
};
for (const one of document.querySelectorAll("#views a")) {
  one.title = `Key ${one.dataset.key}`;
  KEYS[one.dataset.key] = () => { location.hash = one.getAttribute("href"); };
}

document.addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey || event.target.closest("input, select, textarea, dialog")) return;
  const act = KEYS[event.key];
  if (!act) return;
  event.preventDefault();
  act();
});
document.getElementById("help-button").addEventListener("click", KEYS["?"]);
// A link to a part of the page is no route.
document.getElementById("skip").addEventListener("click", (event) => {
  event.preventDefault();
  main.focus();
});

window.addEventListener("hashchange", () => {
  isStarting = false;
  show();
});
setInterval(() => { refreshTimes(); stateText(); }, 5000);
if (!location.hash) history.replaceState(null, "", hash(""));
show();
live.start();
askJson("about").then((about) => {
  document.querySelector(".brand a").title = `${about.server} · karmada-lens ${about.version}`;
}).catch(() => { /* The view says it. */ });
