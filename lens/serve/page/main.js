// Shows the view that the address names, keeps it up to date, and listens to keys.

import {el, hash, length, refreshTimes, setClock, visible} from "./dom.js";
import {ask, askJson, follow, isToken, Refused, setToken} from "./net.js";
import {clusters, fleet, hour, policies} from "./list-views.js";
import {explain, search, whatIf} from "./ask-views.js";
import {object} from "./object-view.js";
import {isSet, set} from "./settings.js";

// A view: {title, path, parameters(route), render(answer, route), follows, undrawn, patience, rest, isKept(route), form(route)}. `follows`: "changes"
// reads again when what is not fine has changed, "always" after each reading of the fleet, "" never.
// `undrawn` are fields that change with each answer and are not drawn. `patience`: for how long an answer is
// awaited, in milliseconds, if not as for the others; `rest`: after which time it is read again at the earliest.
// `isKept`: the server keeps the answer, so that asking again costs nothing. `form(route)`: what is asked for, to be mended
// when it was refused; null if the view asks for nothing.
const VIEWS = {"": fleet, clusters, policies, search, "what-if": whatIf, hour, object, explain};

const main = document.getElementById("main");
const alertBox = document.getElementById("alert");
const stateLine = document.getElementById("state");
const news = document.getElementById("news");

const NOTHING = {address: null, text: null, readAt: null};
// A view that follows is asked for again after as long as its answer took, or this many milliseconds. More is not needed: the
// server makes an answer once for all who ask, and for each reading of the fleet, which takes a quarter of the time at most.
const MOST_REST = 20000;

let shown = NOTHING;                // What is on the screen, of which answer, and when that was read.
let current = 0;                    // Counts, so that a late answer does not win.
let drawn = null;                   // The address that was drawn the last time, if only that it is waited for.
let known = null;                   // The last news about the fleet.
let pending = null;                 // The address whose question has no answer yet.
let hasNews = false;                // There was news since it was asked.
let failed = null;                  // The address that could not be read the last time.
let refused = null;                 // The address that gets the same error however often it is asked.
let isAsking = false;               // Somebody has asked again, and has no answer yet.
let linkWords = "";                 // What became of the link that somebody has just copied.
let linkTimer = null;
let restUntil = 0;                  // Until when no question is repeated by itself.
let again = null;                   // The timer of the repetition.
let isStarting = true;              // The first view leaves the focus where it is.
let abort = new AbortController();  // Ends the question of a view that is left.

function decoded(part) {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;  // Somebody wrote it by hand.
  }
}

function routeOf(address) {
  const [, path, query] = /^#?\/?([^?]*)\??(.*)$/s.exec(address);
  const parts = path.split("/").map(decoded);
  return {name: parts[0], parts: parts.slice(1), query: new URLSearchParams(query)};
}

// ---- Drawing.

// For an address that names no view. It asks for nothing.
const noView = {
  title: "No such view",
  follows: "",
  parameters: () => null,
  render: (answer, route) => [
    el("h1", null, `There is no view ${[route.name, ...route.parts].join("/")}.`),
    el("p", null, "The views are those at the top of the page, and ", el("a", {href: hash("explain")}, "what a reason means"), "."),
  ],
};

// Only an object has more in its path than the name of the view.
function viewOf(address) {
  const {name, parts} = routeOf(address);
  const isView = Object.hasOwn(VIEWS, name) && (name === "object" || parts.every((one) => one === ""));
  return isView ? VIEWS[name] : noView;
}

const FOCUSABLE = "a, button, input, select, summary, [tabindex]";

// What stays when the text of the element changes. The row of a table that has a key is a part of it.
function keyOf(one) {
  const name = one.id || one.getAttribute("href") || (one.tagName === "SUMMARY" && one.parentElement.dataset.name)
    || one.dataset.name || one.getAttribute("aria-label") || one.textContent;
  return [one.closest("[data-key]")?.dataset.key, one.tagName, name].join("\n");
}

// Of each element its key, and how many before it have the same one, such as links to one cluster.
function keyed(elements, key) {
  const counts = new Map();
  return [...elements].map((one) => {
    const text = key(one);
    counts.set(text, (counts.get(text) ?? -1) + 1);
    return {one, key: `${text}\n${counts.get(text)}`};
  });
}

function placeOfFocus() {
  const at = document.activeElement;
  if (!at || !main.contains(at) || at === main) return null;
  const all = keyed(main.querySelectorAll(FOCUSABLE), keyOf);
  const index = all.findIndex(({one}) => one === at);
  // If it is gone, the nearest one before it has the focus.
  return {keys: all.slice(0, index + 1).reverse().map(({key}) => key), selection: at.type === "text" ? [at.selectionStart, at.selectionEnd] : null};
}

function focusAgain(place) {
  if (!place) return;
  const found = new Map(keyed(main.querySelectorAll(FOCUSABLE), keyOf).map(({one, key}) => [key, one]));
  for (const [i, key] of place.keys.entries()) {
    const one = found.get(key);
    one?.focus({preventScroll: true});
    if (!one || document.activeElement !== one) continue;
    if (i === 0 && place.selection) one.setSelectionRange(...place.selection);
    return;
  }
  main.focus({preventScroll: true});
}

function scrolled() {
  return keyed(main.querySelectorAll(".scroll"), (one) => one.getAttribute("aria-label") ?? one.querySelector("caption")?.textContent);
}

function rows() {
  return keyed(main.querySelectorAll("[data-key]"), (one) => one.dataset.key);
}

// Where the rows are that somebody looks at: first the one that has the focus. Who is at the top wants to see what is new.
function placesOfRows() {
  const focused = document.activeElement?.closest("[data-key]");
  return rows().map(({one, key}) => ({one, key, box: one.getBoundingClientRect()}))
    .filter(({one, box}) => box.bottom > 0 && box.top < window.innerHeight && (window.scrollY > 0 || one === focused))
    .sort((a, b) => (b.one === focused) - (a.one === focused)).map(({key, box}) => ({key, top: box.top}));
}

function keepInPlace(places) {
  if (!places.length) return;
  const found = new Map(rows().map(({one, key}) => [key, one]));
  const place = places.find(({key}) => found.has(key));
  if (place) window.scrollBy({top: found.get(place.key).getBoundingClientRect().top - place.top, behavior: "instant"});
}

// What somebody has typed and chosen.
function fields() {
  return new Map([...main.querySelectorAll("input[id], select[id]")].map((one) => [one.id, one.value]));
}

function openedDetails() {
  return new Map([...main.querySelectorAll("details[data-name]")].map((one) => [one.dataset.name, one.open]));
}

// `isOther`: what is on the screen is another answer's, or none.
function draw(view, content, isOther) {
  const isNew = drawn !== location.hash;
  const hadFocus = document.activeElement === document.body || main.contains(document.activeElement);
  drawn = location.hash;
  const focus = isNew ? null : placeOfFocus();
  const opened = isNew ? new Map() : openedDetails();
  const typed = isNew ? new Map() : fields();
  const sideways = new Map(isNew ? [] : scrolled().map(({one, key}) => [key, one.scrollLeft]));
  const places = isNew ? [] : placesOfRows();
  main.replaceChildren(...[content].flat(3).filter(Boolean));
  for (const one of main.querySelectorAll("details[data-name]")) {
    if (opened.has(one.dataset.name)) one.open = opened.get(one.dataset.name);
  }
  for (const [id, value] of typed) {
    const field = document.getElementById(id);
    if (!field) continue;
    field.value = value;
    field.dispatchEvent(new Event("change"));
  }
  for (const {one, key} of scrolled()) one.scrollLeft = sideways.get(key) ?? 0;
  const heading = main.querySelector("h1");
  document.title = `${heading ? heading.textContent : view.title} · Karmada fleet`;
  if (isOther) showWorst();
  if (isNew) window.scrollTo(0, 0);
  if (isNew || (isOther && hadFocus && !focus)) {
    if (!isStarting) main.focus({preventScroll: true});
  } else {
    focusAgain(focus);
    keepInPlace(places);
  }
}

// Where a picture is wider than the screen, its first box that is not fine is seen.
function showWorst() {
  for (const picture of main.querySelectorAll(".scroll > .journey")) {
    const box = (picture.querySelector("g.is-bad") ?? picture.querySelector("g.is-warn"))?.getBoundingClientRect();
    const seen = picture.parentElement.getBoundingClientRect();
    if (box && box.right > seen.right) picture.parentElement.scrollLeft += (box.left + box.right - seen.left - seen.right) / 2;
  }
}

// For tests/bench/page.py; only the last one of each name is kept.
function note(name) {
  performance.clearMarks(name);
  performance.mark(name);
}

// What is set again is read aloud again.
function say(sentence) {
  const text = sentence ? visible(sentence) : "";
  if (alertBox.textContent !== text) alertBox.textContent = text;
}

function sayEarlier(message) {
  say(`${/[.!?]$/.test(message) ? message : `${message}.`} What you see is of an earlier time.`);
}

// Whether it is kept up to date, and when the answer that is on the screen was read.
function stateText() {
  const isFollowed = viewOf(location.hash).follows !== "";
  const readAt = shown.address === location.hash ? shown.readAt : null;
  const liveness = isFollowed && known && (known.live ? "Live" : "Not live");
  const read = isAsking ? "asking again…" : readAt && `read ${isSet("exact-times") ? readAt : `${length(readAt)} ago`}`;
  const text = [liveness, read, linkWords].filter(Boolean).join(" · ");
  stateLine.textContent = text.charAt(0).toUpperCase() + text.slice(1);
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
    const token = field.value.trim();
    field.value = "";
    if (!isToken(token)) return askForToken("That cannot be a token: it has a character that no token has. Copy it again, without what stands around it.");
    setToken(token);
    say("");
    failed = null;  // The old refusal is not of this token.
    isStarting = false;
    show();
    live.start();
  }}, el("label", null, "Bearer token of the control plane", field), el("button", null, "Look"));
  main.replaceChildren(
    el("h1", null, "A token is needed"),
    el("p", {id: "token-message", role: "status"}, message),
    el("p", null, "What you see is what the control plane lets this token read. It stays in this tab, is sent to the ",
      "control plane with each question, and is kept nowhere else. One way to get one:"),
    el("pre", null, "kubectl create token NAME --duration 8h"), form);
  shown = NOTHING;
  drawn = null;
  field.focus();
}

// Whether the same question will get the same answer: what is asked for cannot be, or may not be, read. What nobody follows
// is asked again only if there was no answer at all.
function isFinal(view, code) {
  if (code === 429 || code === 503 || code === 0) return false;
  return code < 500 || view.follows === "";
}

function showError(view, error, isNew) {
  if (error.code === 401) return askForToken(error.message);
  if (!isNew && shown.address === location.hash) {
    return sayEarlier(error.message);
  }
  const isWrong = error.code === 400 || error.code === 404;  // Somebody may mend what they asked for.
  draw(view, [el("h1", null, view.title), el("p", {class: "bad", id: "refusal"}, error.message),
    isWrong && view.form?.(routeOf(location.hash)),
    !isFinal(view, error.code) && el("p", null, "This view tries again by itself when the control plane answers."),
    el("p", null, el("button", {type: "button", onclick: askAgain}, "Try again"))], true);
  // Who is in a field is told what was said of it.
  for (const field of main.querySelectorAll("form input, form select")) field.setAttribute("aria-describedby", "refusal");
  shown = NOTHING;
  document.body.dataset.shown = location.hash;
}

// ---- Reading.

// What is drawn of the answer, so that a later one can be compared with it.
function comparableOf(answer, view) {
  const {readAt, tookSeconds, ...rest} = answer ?? {};
  for (const name of view.undrawn ?? []) delete rest[name];
  return JSON.stringify(rest);
}

// By a key or a button. What an earlier answer was does not count.
function askAgain() {
  failed = null;
  show(true);
}

// `isAgain`: somebody has asked again, and wants to hear of the answer although it be the same.
async function show(isAgain = false) {
  const address = location.hash;
  const route = routeOf(address);
  const view = viewOf(address);
  const isNew = shown.address !== address;
  const hadFailed = failed === address;
  const number = ++current;
  const start = performance.now();
  let isWaitedFor = false;
  abort.abort();
  abort = new AbortController();
  clearTimeout(again);
  pending = address;
  hasNews = false;
  refused = null;
  isAsking = isAgain;
  stateText();
  for (const one of document.querySelectorAll("#views a")) {
    if (VIEWS[one.dataset.view === "fleet" ? "" : one.dataset.view] === view) one.setAttribute("aria-current", "page");
    else one.removeAttribute("aria-current");
  }
  const waiting = setTimeout(() => {
    if (number !== current || !isNew || hadFailed || document.getElementById("token")?.value) return;
    isWaitedFor = true;
    draw(view, [el("h1", null, view.title), el("p", null, view.waiting ?? "Reading the control plane…")], true);
    shown = NOTHING;  // Who goes back finds the old view no more.
  }, 200);
  try {
    const parameters = view.parameters(route);
    const text = parameters ? await ask(view.path, parameters, abort.signal, view.patience) : "null";
    if (number !== current) return;
    failed = null;
    say("");
    const answer = JSON.parse(text);
    const readAt = answer?.readAt ?? null;
    const comparable = comparableOf(answer, view);
    const isSame = !isNew && comparable === shown.text;
    if (!isSame) draw(view, view.render(answer, route), isNew);
    shown = {address, text: comparable, readAt};
    if (isWaitedFor || (isAgain && parameters)) news.textContent = isSame ? "The answer is the same." : main.querySelector("h1").textContent;
    isAsking = false;
    stateText();
    document.body.dataset.shown = address;  // Says which view is complete.
    note("drawn");
  } catch (error) {
    if (number !== current) return;
    const refusal = error instanceof Refused ? error : new Refused(0, `This page failed: ${error.message}`);
    failed = address;
    if (isFinal(view, refusal.code)) refused = address;
    isAsking = false;
    stateText();
    showError(view, refusal, isNew);
    if ((isWaitedFor || (isAgain && isNew)) && refusal.code !== 401) news.textContent = visible(refusal.message);
  } finally {
    clearTimeout(waiting);
    if (number === current) rest(view, view.isKept?.(route) ? 0 : performance.now() - start);
  }
}

// The question has been answered, which took so long. News that came meanwhile has it asked again.
function rest(view, took) {
  pending = null;
  restUntil = performance.now() + Math.max(view.rest ?? 0, Math.min(took, MOST_REST));
  if (hasNews && refused === null && (failed !== null || view.follows !== "")) showAgain();
}

// Because there is news; a question that waits for its answer goes on.
function showAgain() {
  if (pending === location.hash) {
    hasNews = true;
    return;
  }
  clearTimeout(again);
  again = setTimeout(show, Math.max(0, restUntil - performance.now()));
}

const live = follow({
  onNews(data) {
    note("news");
    setClock(data.now);
    const changed = !known?.data || known.data.fingerprint !== data.fingerprint;
    const isFirst = !known?.data;
    known = {live: !data.error, data};
    stateText();
    if (data.error) return sayEarlier(data.error);
    if (changed && !isFirst) news.textContent = visible(data.headline);
    const view = viewOf(location.hash);
    if (refused === location.hash) return;
    const isOld = failed === location.hash || shown.address !== location.hash;
    if (isOld || view.follows === "always" || (view.follows === "changes" && changed)) return showAgain();
    say("");
    // The reading has found again what is on the screen.
    if (view.follows === "changes" && pending === null) shown.readAt = data.readAt;
    stateText();
  },
  onEnd(error) {
    known = {data: null, ...known, live: false};
    stateText();
    if (error.code === 401) askForToken(error.message);
    else sayEarlier(error.message);
  },
});

// ---- Keys.

function step(direction) {
  const links = [...main.querySelectorAll("a[href], summary, button")].filter((one) => one.checkVisibility());
  if (!links.length) return;
  const at = links.indexOf(document.activeElement);
  links[(at + direction + links.length) % links.length].focus();
}

async function copyLink() {
  clearTimeout(linkTimer);
  try {
    await navigator.clipboard.writeText(location.href);
    linkWords = "the link is copied";
  } catch {  // There is no clipboard, or it may not be used.
    linkWords = "the link cannot be copied: take it from the address bar";
  }
  news.textContent = `${linkWords.replace("t", "T")}.`;
  stateText();
  linkTimer = setTimeout(() => {
    linkWords = "";
    stateText();
  }, 5000);
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
  "r": askAgain,
  "t": () => showTimes(!isSet("exact-times")),
  "y": copyLink,
  "?": () => document.getElementById("help").showModal(),
};
for (const one of document.querySelectorAll("#views a")) {
  KEYS[one.dataset.key] = () => { location.hash = one.getAttribute("href"); };
}

document.addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey || event.target.closest("input, select, textarea, dialog")) return;
  const act = isSet("no-keys") ? null : KEYS[event.key];
  if (!act) return;
  event.preventDefault();
  act();
});

// Who speaks to the browser, or whose hands shake, may not want that a letter alone does something.
function showKeys() {
  const areOff = isSet("no-keys");
  document.getElementById("keys-switch").checked = !areOff;
  document.querySelector("#help-button kbd").hidden = areOff;
  for (const one of document.querySelectorAll("#views a")) {
    if (areOff) one.removeAttribute("title");
    else one.title = `Key ${one.dataset.key}`;
  }
}

document.getElementById("keys-switch").addEventListener("change", (event) => {
  set("no-keys", !event.target.checked);
  showKeys();
});

function showTimes(areExact) {
  set("exact-times", areExact);
  document.getElementById("times-button").setAttribute("aria-pressed", String(areExact));
  refreshTimes();
  stateText();
}

document.getElementById("times-button").addEventListener("click", KEYS["t"]);
document.getElementById("help-button").addEventListener("click", KEYS["?"]);
// A link to a part of the page is no route.
document.getElementById("skip").addEventListener("click", (event) => {
  event.preventDefault();
  main.focus();
});

document.addEventListener("visibilitychange", () => {
  if (document.hidden && known) known.live = false;  // Nobody follows until it is looked at again.
});
window.addEventListener("hashchange", () => {
  isStarting = false;
  show();
});
window.addEventListener("ask-again", askAgain);
setInterval(() => { refreshTimes(); stateText(); }, 5000);
showKeys();
showTimes(isSet("exact-times"));
if (!location.hash) history.replaceState(null, "", hash(""));
show();
live.start();
askJson("about").then((about) => {
  document.querySelector(".brand a").title = `${about.server} · karmada-lens ${about.version}`;
}).catch(() => { /* The view says it. */ });
