// The way of a template as a picture: policy, template, binding, then a row for each cluster with
// wanted and there. The table below the picture says the same in words.

import {objectHash, plural, svg, visible} from "./dom.js";

const BOX = {width: 190, height: 56};
const GAP = 46;
const ROW = 78;
const MARGIN = 10;
// As page.css has them.
const FONTS = {strong: "600 13px system-ui, sans-serif", small: "12px system-ui, sans-serif"};

const ruler = document.createElement("canvas").getContext("2d");

// As much of the text as fits into a box. Letters differ in width by four times, so it is measured; no letter is cut in two.
function short(text, kind) {
  ruler.font = FONTS[kind];
  const fits = (some) => ruler.measureText(some).width <= BOX.width - 2 * MARGIN;
  const whole = visible(text);
  if (fits(whole)) return whole;
  const letters = Array.from(new Intl.Segmenter().segment(whole), ({segment}) => segment);
  let [most, least] = [letters.length, 0];
  while (least + 1 < most) {
    const middle = Math.floor((least + most) / 2);
    if (fits(`${letters.slice(0, middle).join("")}…`)) least = middle;
    else most = middle;
  }
  return `${letters.slice(0, least).join("")}…`;
}

function box(x, y, {title, lines, state, object}) {
  const texts = [svg("text", {x: x + MARGIN, y: y + 21, class: "strong"}, short(title, "strong")),
    ...lines.map((line, i) => svg("text", {x: x + MARGIN, y: y + 39 + i * 14, class: "small"}, short(line, "small")))];
  const name = visible([title, ...lines].join(", "));
  const shape = svg("g", {class: `is-${state}`, role: object ? null : "img", "aria-label": object ? null : name},
    svg("title", null, name),
    svg("rect", {x, y, width: BOX.width, height: BOX.height, rx: 6}), texts);
  return object ? svg("a", {href: objectHash(object), "aria-label": name}, shape) : shape;
}

function line(from, to, isBad) {
  const middle = (from.x + to.x) / 2;
  return svg("path", {"aria-hidden": "true", d: `M${from.x} ${from.y}C${middle} ${from.y} ${middle} ${to.y} ${to.x} ${to.y}`, class: isBad ? "is-bad" : null});
}

// The state of a place in a word, which the picture and the table share.
export function stateOf(place) {
  if (place.isEvicted) return {kind: "warn", text: "is being evicted"};
  if (!place.isTarget) return {kind: "warn", text: "leaves"};
  if (!place.clusterExists) return {kind: "bad", text: "no such cluster"};
  if (!place.clusterReady) return {kind: "bad", text: "cluster not ready"};
  if (!place.work) return {kind: "bad", text: "no Work"};
  if (place.isSuspended) return {kind: "warn", text: "suspended"};
  if (place.cannotBeMade) return {kind: "bad", text: "no manifest"};
  if (place.applied === false) return {kind: "bad", text: "not applied"};
  if (place.applied === null) return {kind: "warn", text: "not applied yet"};
  if (place.health === "Unhealthy") return {kind: "bad", text: "not healthy"};
  if (place.differs) return {kind: "warn", text: "differs"};
  return {kind: "good", text: "applied"};
}

export function replicas(place) {
  if (place.wanted === null || place.wanted === undefined) return place.member === "has it" ? "is there" : "";
  return `${place.there ?? "?"} of ${place.wanted} ready`;
}

function clustersIn(places, only) {
  if (only) return places.length ? `${only} alone is shown` : `not in ${only}`;
  return places.length ? plural(places.length, "cluster") : "no cluster chosen";
}

// `only`: the cluster that is asked about; null when all are.
export function journey(answer, only) {
  const {object, policies, binding, places} = answer;
  const rows = Math.max(places.length, 1);
  const height = rows * ROW + 20;
  const middle = (height - BOX.height) / 2;
  const x = (column) => 10 + column * (BOX.width + GAP);
  const at = (column, y, side) => ({x: x(column) + (side === "right" ? BOX.width : 0), y: y + BOX.height / 2});
  const boxes = [
    box(x(0), middle, policies.claim
      ? {title: policies.governs?.name ?? policies.claim, lines: [policies.governs?.kind ?? "does not exist"], state: policies.governs ? "good" : "bad", object: policies.governs}
      : {title: "no policy", lines: ["nothing selects it"], state: "bad"}),
    box(x(1), middle, {title: object.name, lines: [object.kind, object.exists ? "" : "does not exist"].filter(Boolean), state: object.exists ? "good" : "bad"}),
    box(x(2), middle, binding
      ? {title: binding.name, lines: [clustersIn(places, only)], state: places.length ? "good" : "bad", object: binding}
      : {title: "no binding", lines: ["nothing is scheduled"], state: "bad"}),
  ];
  const lines = [line(at(0, middle, "right"), at(1, middle), !policies.claim), line(at(1, middle, "right"), at(2, middle), !binding)];
  places.forEach((place, i) => {
    const y = 10 + i * ROW + (ROW - BOX.height) / 2;
    const state = stateOf(place);
    lines.push(line(at(2, middle, "right"), at(3, y), state.kind === "bad"));
    boxes.push(box(x(3), y, {title: place.cluster, lines: [[state.text, replicas(place)].filter(Boolean).join(", ")], state: state.kind,
      object: {type: "Cluster.v1alpha1.cluster.karmada.io", namespace: "", name: place.cluster}}));
  });
  const width = x(3) + BOX.width + 10;
  return svg("svg", {class: "journey", viewBox: `0 0 ${width} ${height}`, role: "group", "aria-label":
    `The way of ${object.kind} ${object.name}: ${policies.claim || "no policy"}, ${binding ? "a binding" : "no binding"}, `
    + `${clustersIn(places, only)}. The table below says the same.`}, lines, boxes);
}
