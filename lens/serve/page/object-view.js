// One object: the cause first, what to do, the way as a picture, then everything that is behind it.

import {command, el, hash, lasting, link, mark, nameOf, objectHash, open, table, unread, when} from "./dom.js";
import {journey, replicas, stateOf} from "./journey.js";
import {clusterObject, fieldsForm, filter, folded, given} from "./list-views.js";
import {askJson} from "./net.js";

const MARKS = {ok: ["good", "ok"], stuck: ["bad", "stuck"], waiting: ["warn", "waiting"], note: ["warn", "note"]};

function way(node) {
  const [kind, text] = MARKS[node.mark] ?? [];
  return el("li", null, kind && [mark(kind, text), " "], node.text, node.children && el("ul", null, node.children.map(way)));
}

function headline(answer) {
  const {object} = answer;
  return [
    el("p", {class: "soft"}, nameOf(object), object.through && ` (asked about by ${object.through})`,
      object.exists ? [", created ", when(object.created)] : ", which does not exist",
      object.deleting && [", being deleted", lasting(object.deleting)]),
    el("h1", null, answer.headline),
    el("p", null, answer.arrived ? mark("good", object.isTemplate ? "arrived" : "fine")
      : mark(answer.cause?.grade === "waiting" ? "warn" : "bad", answer.cause?.grade ?? "not known"),
    lasting(answer.since)),
    answer.advice && el("p", {class: "advice"}, el("strong", null, "What to do: "), answer.advice),
  ];
}

function overrides(place) {
  if (place.overridesUnknown) return place.overridesUnknown;
  return place.overrides?.map((rule) => el("div", null, link(rule), el("span", {class: "soft"}, ` ${rule.field}`)));
}

function memberOf(place) {
  return [place.member, place.whyUnhealthy && el("div", null, place.whyUnhealthy),
    place.differs && el("div", null, "differs in ", el("code", null, place.differs)),
    place.appliedMessage && el("div", null, place.appliedMessage)];
}

function places(answer, only) {
  if (!answer.places.length) {
    return el("p", null, only ? `${only} does not have it, and is not to get it.` : "No cluster has it, and none is to get it.");
  }
  return table("Wanted and there, cluster by cluster", [
    {label: "Cluster", cell: (one) => link(clusterObject(one.cluster), one.cluster)},
    {label: "State", cell: (one) => { const state = stateOf(one); return mark(state.kind, state.text); }},
    {label: "Replicas", number: true, cell: replicas},
    {label: "Member", cell: memberOf},
    {label: "Overrides", cell: overrides},
  ], answer.places);
}

// Why it is, or is not, in one cluster.
function oneCluster(route) {
  const path = ["object", ...route.parts].map(encodeURIComponent).join("/");
  return folded(filter(path, route, [{name: "cluster", label: "Cluster"}], "Only this"), "Why is it in a certain cluster, or why not?", route);
}

function selecting(answer) {
  const others = answer.policies.selecting;
  if (others.length < 2) return null;
  return [el("h2", null, "Policies that select it"), table("The first one goes before the others", [
    {label: "Policy", cell: (one) => link(one)},
    {label: "Priority", number: true, cell: (one) => String(one.priority)},
    {label: "Governs", cell: (one) => (nameOf(one) === answer.policies.claim ? mark("good", "governs it") : "")},
  ], others)];
}

function findings(answer) {
  const others = answer.findings.filter((one) => one.text !== answer.cause?.text);
  if (!others.length) return null;
  return [el("h2", null, "What else was found"), el("ul", null, others.map((one) => el("li", null,
    mark(one.grade === "stuck" ? "bad" : "warn", one.grade), " ", one.text,
    one.advice && el("div", {class: "soft"}, `What to do: ${one.advice}`))))];
}

function events(answer) {
  if (!answer.events.length) {
    return el("p", null, answer.unread?.length ? "No event was read." : "No event is recorded. Events go after an hour.");
  }
  return table("The latest last", [
    {label: "When", cell: (one) => when(one.time)},
    {label: "What", cell: (one) => [mark(one.severity === "warning" ? "bad" : "good", one.severity), " ",
      el("a", {href: hash("explain", {text: one.reason})}, one.reason), " ", one.message,
      one.count > 1 && el("span", {class: "soft"}, ` (${one.count} times)`)]},
    {label: "About", cell: (one) => (one.about.name ? link(one.about) : nameOf(one.about))},
    {label: "By", cell: (one) => one.from},
  ], answer.events);
}

// What it needs and what needs it, which is read when somebody opens it, and again when they close and open it, not
// each time the rest of the page is drawn. One object's is kept.
let surrounded = {of: null, inside: null, abort: null};

function surroundings(object) {
  const of = objectHash(object);
  if (surrounded.of !== of) {
    surrounded.abort?.abort();
    surrounded = {of, inside: el("div", null, el("p", null, "Reading…")), abort: null};
  }
  const own = surrounded;
  const details = el("details", {"data-name": "graph", ontoggle: () => {
    if (!details.isConnected || details.open === Boolean(own.abort)) return;
    if (details.open) return void readSurroundings(object, own);
    own.abort.abort();
    own.abort = null;
  }}, el("summary", null, "What hangs together with it"), own.inside);
  return details;
}

async function readSurroundings(object, own) {
  const abort = new AbortController();
  own.abort = abort;
  const parameters = [["type", object.type], ["namespace", object.namespace], ["name", object.name]];
  try {
    own.inside.replaceChildren(...graph(await askJson("graph", parameters, abort.signal)));
  } catch (error) {
    if (!abort.signal.aborted) own.inside.replaceChildren(el("p", {class: "bad"}, error.message));
  }
}

// Who leaves the object does not wait for it any more.
window.addEventListener("hashchange", () => {
  surrounded.abort?.abort();
  surrounded = {of: null, inside: null, abort: null};
});

// A picture in an <img> runs no script and loads nothing.
function graph(answer) {
  if (!answer.svg) return [el("p", null, "Nothing hangs together with it.")];
  const url = URL.createObjectURL(new Blob([answer.svg], {type: "image/svg+xml"}));
  const name = (index) => answer.nodes[index].name;
  const verb = {claims: "governs", needs: "needs", placed: "is in"};
  return [
    el("div", {class: "scroll", tabindex: 0, role: "group", "aria-label": "The picture of what hangs together"}, el("img", {class: "graph-picture", src: url, alt: "Policies, templates and clusters; the list below says the same.",
      onload: () => URL.revokeObjectURL(url)})),
    el("ul", null, answer.edges.map((edge) => el("li", null, `${name(edge.from)} ${verb[edge.type]} ${name(edge.to)}`,
      edge.label && ` (${edge.label})`, answer.nodes[edge.to].exists === false && " which does not exist"))),
    el("p", {class: "soft"}, "Read ", when(answer.readAt), ". It is read again when you close and open it."),
    unread(answer.unread),
  ].filter(Boolean);
}

function parametersOf(route) {
  const [type, namespace, name] = route.parts;
  const parameters = [["type", type ?? ""], ["name", name ?? ""]];
  if (namespace && namespace !== "-") parameters.push(["namespace", namespace]);
  return [...parameters, ...given(route)];
}

// Which object is asked about, for who has written its address and was refused.
function whichObject(route) {
  const [type, namespace, name] = route.parts;
  return fieldsForm([
    {name: "type", label: "Kind (Deployment)", value: type}, {name: "namespace", label: "Namespace", value: namespace === "-" ? "" : namespace},
    {name: "name", label: "Name", value: name}, {name: "cluster", label: "Cluster, or empty", value: route.query.get("cluster")},
  ], "Show", ({cluster, ...which}) => {
    open(objectHash(which) + (cluster ? `?${new URLSearchParams({cluster})}` : ""));
  });
}

export const object = {
  title: "One object",
  path: "object",
  follows: "always",
  parameters: parametersOf,
  form: whichObject,
  render: (answer, route) => [
    headline(answer),
    answer.object.isTemplate && [el("h2", null, "The way"),
      el("div", {class: "scroll", tabindex: 0, role: "group", "aria-label": "The picture"}, journey(answer, route.query.get("cluster"))),
      places(answer, route.query.get("cluster")), oneCluster(route)],
    selecting(answer),
    findings(answer),
    el("h2", null, "Events, in the order of time"), events(answer),
    el("details", {"data-name": "way", open: !answer.object.isTemplate}, el("summary", null, "Step by step"), el("ul", {class: "way"}, way(answer.way))),
    surroundings(answer.object),
    el("h2", null, "In a terminal"),
    el("p", {class: "soft"}, "None of these changes anything."),
    answer.commands.map((one) => command(one.what, one.command)),
    unread(answer.unread),
  ],
};
