// Makes elements. Text of objects only ever becomes text: nothing here parses markup, and the
// policy of the page (require-trusted-types-for) would refuse it.

import {isSet} from "./settings.js";

const SVG = "http://www.w3.org/2000/svg";

// Control characters, and those that change the direction of writing, would let a name look like
// another one: they are shown as what they are.
const HIDDEN = /[\u0000-\u001f\u007f-\u009f\u061c\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff]/g;

export function visible(text) {
  return String(text).replace(HIDDEN, (c) => (c === "\n" ? c : `\\u${c.charCodeAt(0).toString(16).padStart(4, "0")}`));
}

function fill(element, attributes, children) {
  for (const [name, value] of Object.entries(attributes ?? {})) {
    if (value === null || value === undefined || value === false) continue;
    if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else element.setAttribute(name, value === true ? "" : String(value));
  }
  for (const child of children.flat(3)) {
    if (child === null || child === undefined || child === false || child === "") continue;
    element.append(child instanceof Node ? child : document.createTextNode(visible(child)));
  }
  return element;
}

// el("a", {href: "#/"}, "text", otherElement)
export function el(name, attributes, ...children) {
  return fill(document.createElement(name), attributes, children);
}

export function svg(name, attributes, ...children) {
  return fill(document.createElementNS(SVG, name), attributes, children);
}

// ---- Links. Each view and each object has one, which can be pasted into a chat.

export function hash(path, parameters) {
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries(parameters ?? {})) {
    for (const one of [value].flat()) if (one) query.append(name, one);
  }
  const text = query.toString();
  return `#/${path}${text ? `?${text}` : ""}`;
}

export function objectHash(object) {
  const parts = ["object", object.type, object.namespace || "-", object.name];
  return `#/${parts.map(encodeURIComponent).join("/")}`;
}

// Goes to an address of the page. The one that is shown is asked for again.
export function open(address) {
  if (location.hash === address) window.dispatchEvent(new Event("ask-again"));
  else location.hash = address;
}

export function nameOf(object) {
  return `${object.kind} ${object.namespace ? `${object.namespace}/` : ""}${object.name}`;
}

export function link(object, text) {
  return el("a", {href: objectHash(object)}, el("bdi", null, text ?? nameOf(object)));
}

// ---- Times.

// By how much the server's clock is ahead of this browser's, in milliseconds.
let ahead = 0;

export function setClock(serverTime) {
  const time = Date.parse(serverTime);
  if (!Number.isNaN(time)) ahead = time - Date.now();
}

// How long ago the server's time is: "5 min".
export function length(time) {
  const seconds = Math.max(0, (Date.now() + ahead - Date.parse(time)) / 1000);
  if (seconds < 90) return `${Math.round(seconds)} s`;
  if (seconds < 5400) return `${Math.round(seconds / 60)} min`;
  if (seconds < 172800) return `${Math.round(seconds / 3600)} h`;
  return `${Math.round(seconds / 86400)} days`;
}

const FORMS = {
  ago: {length: (time) => `${length(time)} ago`, exact: (time) => time},
  lasting: {length: (time) => `for ${length(time)}`, exact: (time) => `since ${time}`},
};

// The words of a time, and what the pointer is told in addition: how long ago it is, or when it was.
function timeWords(time, form) {
  const {length, exact} = FORMS[form];
  return isSet("exact-times") ? [exact(time), length(time)] : [length(time), time];
}

function timeElement(time, form) {
  if (!time) return el("span", {class: "soft"}, "not recorded");
  const [text, title] = timeWords(time, form);
  return el("time", {datetime: time, title, "data-form": form}, text);
}

// "5 min ago", and "for 5 min"; or exact, as the control plane writes it.
export function when(time) {
  return timeElement(time, "ago");
}

export function lasting(time) {
  return time ? [" ", timeElement(time, "lasting")] : null;
}

export function refreshTimes() {
  for (const element of document.querySelectorAll("time[data-form]")) {
    [element.textContent, element.title] = timeWords(element.dateTime, element.dataset.form);
  }
}

// ---- Parts that several views have.

export function plural(count, word) {
  return `${count} ${word}${count === 1 ? "" : "s"}`;
}

export function mark(kind, text) {
  return el("span", {class: `mark ${kind}`}, text);
}

// columns: [{label, cell: (row) => content, number}]; the first one names the row. `key`: (row) => what stays the same of a row
// when the table is drawn again, so that the focus stays in it.
export function table(caption, columns, rows, key) {
  const head = el("tr", null, columns.map((c) => el("th", {scope: "col", class: c.number && "number"}, c.label)));
  const line = (row) => el("tr", {"data-key": key?.(row)}, columns.map((column, i) =>
    el(i === 0 ? "th" : "td", {
      scope: i === 0 ? "row" : null, "data-label": column.label, class: column.number ? "number" : null,
    }, el("span", null, column.cell(row) ?? ""))));
  return el("div", {class: "scroll"}, el("table", {class: "cards"},
    el("caption", null, caption), el("thead", null, head), el("tbody", null, rows.map(line))));
}

// What could not be read, and why; the rest is shown all the same.
export function unread(sentences) {
  if (!sentences?.length) return null;
  return el("section", {class: "notes", "aria-label": "Not read"},
    el("p", null, el("strong", null, "Not everything could be read, and nothing is concluded from what is missing:")),
    el("ul", null, sentences.map((sentence) => el("li", null, sentence))));
}

export function copyButton(text, what) {
  const tell = (sentence) => { document.getElementById("news").textContent = visible(sentence); };
  const label = (word) => ({"aria-label": `${word}: ${what}, ${visible(text)}`});
  const button = el("button", {type: "button", "data-name": `copy ${what}`, ...label("Copy"), onclick: async () => {
    const name = (word) => {
      button.textContent = word;
      fill(button, label(word), []);
    };
    try {
      await navigator.clipboard.writeText(text);
      name("Copied");
      tell(`Copied: ${what}`);
    } catch {
      name("Select it by hand");
      tell("It cannot be copied: select it by hand.");
    }
    setTimeout(() => name("Copy"), 2000);
  }}, "Copy");
  return button;
}

export function command(what, text) {
  return el("div", {class: "command"}, el("span", null, what), el("pre", null, text), copyButton(text, what));
}
