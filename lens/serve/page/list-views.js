// Views that show a list: what is not fine, clusters, policies, the last hour.

import {el, hash, lasting, link, mark, nameOf, open, plural, svg, table, unread, when} from "./dom.js";

const SHOWN = 20;  // Templates of a group that are open at first.

// A form of text fields, {name, label, value}; `onAnswer` gets what stands in them.
export function fieldsForm(fields, button, onAnswer) {
  const inputs = fields.map(({name, label, value}) => el("label", null, label, el("input", {
    name, id: `field-${name}`, value: value ?? "", autocomplete: "off", autocapitalize: "none", spellcheck: "false",
  })));
  return el("form", {class: "ask", role: "search", onsubmit: (event) => {
    event.preventDefault();
    onAnswer(Object.fromEntries(new FormData(event.target)));
  }}, inputs, el("button", null, button));
}

// A form whose fields are the parameters of the address; `more` are those that have none.
export function filter(view, route, fields, button, more) {
  return fieldsForm(fields.map((one) => ({...one, value: route.query.get(one.name)})), button, (values) => open(hash(view, {...values, ...more})));
}

// What is asked for and does not exist.
export function unknown(sentences) {
  return sentences?.map((sentence) => el("p", {class: "notes bad"}, sentence));
}

// A filter is closed as long as nobody uses it.
export function folded(form, text, route) {
  return el("details", {"data-name": "filter", open: [...route.query.keys()].length > 0}, el("summary", null, text), form);
}

// What the address asks for, known to this page or not: the server refuses what it does not know, and says what there is.
// A parameter without a value asks for nothing. `own`: those that are this page's alone.
export function given(route, own = []) {
  return [...route.query].filter(([name, value]) => value && !own.includes(name));
}

// ---- Not fine now.

function isSaidOnce(templates) {
  return templates.length === 1 || templates.every((one) => one.headline === templates[0].headline);
}

function templateRows(templates) {
  return table("Templates with this cause", [
    {label: "Template", cell: (one) => link(one)},
    {label: "Began", cell: (one) => when(one.since)},
    !isSaidOnce(templates) && {label: "What", cell: (one) => one.headline},
    {label: "Cluster", cell: (one) => one.cluster && link(clusterObject(one.cluster), one.cluster)},
    {label: "Policy", cell: (one) => one.policy},
  ].filter(Boolean), templates, nameOf);
}

export function clusterObject(name) {
  return {type: "Cluster.v1alpha1.cluster.karmada.io", kind: "Cluster", namespace: "", name};
}

function isWaiting(group) {
  return group.templates[0]?.grade === "waiting";
}

function group(one) {
  const waits = isWaiting(one);
  const first = one.templates.slice(0, SHOWN);
  const more = one.templates.slice(SHOWN);
  return el("section", {class: "group"},
    el("h2", null, `${one.count} × ${one.cause} `, mark(waits ? "warn" : "bad", waits ? "waiting" : "stuck")),
    isSaidOnce(one.templates) && el("p", null, one.templates[0].headline),
    one.advice ? el("p", {class: "advice"}, el("strong", null, "What to do: "), one.advice)
      : el("p", {class: "soft"}, "Each template below has an advice of its own: open it."),
    one.since && one.count > 1 && el("p", {class: "soft"}, "The latest began ", when(one.since), "."),
    templateRows(first),
    more.length > 0 && el("details", {"data-name": one.cause}, el("summary", null, `${more.length} more`), templateRows(more)),
    one.leftOut > 0 && el("p", {class: "soft"}, `${one.leftOut} more are left out here: choose a namespace, a cluster or a policy above, `,
      "or run karmada-lens why -A --full."));
}

function emptyFleet(answer) {
  if (answer.templates === 0 && answer.unread.length === 0) {
    return el("p", null, "A template is an object that a policy selects, or a workload that none selects yet. ",
      "There is none here: nothing has been propagated, or the filter above leaves everything out.");
  }
  if (answer.fine) {
    return el("p", {class: "good"}, `✓ Each of ${plural(answer.templates, "template")} is in the clusters that its policy wants, `,
      "as it is wanted, and healthy there as far as the control plane knows.");
  }
  return null;
}

export const fleet = {
  title: "Not fine now",
  path: "fleet",
  follows: "changes",
  parameters: (route) => given(route),
  isKept: (route) => given(route).length === 0,
  form: (route) => folded(filter("", route, [
    {name: "namespace", label: "Namespace"}, {name: "cluster", label: "Cluster"}, {name: "policy", label: "Policy"},
  ], "Only these"), "Only a namespace, a cluster or a policy", route),
  render: (answer, route) => [
    el("h1", null, answer.headline),
    unknown([...answer.stopped, ...answer.unknown]),
    emptyFleet(answer),
    fleet.form(route),
    // What somebody has to mend goes before what a program is about to do.
    [...answer.groups].sort((a, b) => isWaiting(a) - isWaiting(b)).map(group),
    unread(answer.unread),
  ],
};

// ---- Clusters.

function bar(name, room) {
  if (!room) return null;
  const share = room.share ?? 0;
  const text = `${name} ${room.allocated ?? 0} of ${room.allocatable}`;
  return el("div", null, svg("svg", {class: "bar", viewBox: "0 0 100 10", preserveAspectRatio: "none", "aria-hidden": "true"},
    svg("rect", {width: Math.min(100, share * 100), height: 10})), " ", text);
}

function readiness(one) {
  if (one.leavingSince) return [mark("warn", "leaving"), lasting(one.leavingSince)];
  if (one.ready === "True") return [mark("good", "ready"), lasting(one.since)];
  return [mark("bad", one.ready === "" ? "not known yet" : "not ready"), lasting(one.since),
    el("div", null, one.reason, one.message && `: ${one.message}`)];
}

function taints(one) {
  return one.taints.map((taint) => el("div", null,
    `${taint.key}${taint.value ? `=${taint.value}` : ""}:${taint.effect}`, lasting(taint.since)));
}

const UNKNOWN = "not known";

function count(number) {
  return number === null ? UNKNOWN : String(number);
}

export const clusters = {
  title: "Clusters",
  path: "clusters",
  follows: "always",
  undrawn: ["notFineReadAt"],
  parameters: (route) => given(route),
  form: () => null,
  render: (answer) => [
    el("h1", null, `${answer.ready} of ${plural(answer.clusters.length, "cluster")} ${answer.ready === 1 ? "is" : "are"} ready.`),
    answer.clusters.length === 0 && answer.unread.length === 0 && el("p", null, "No cluster has joined: karmadactl join NAME, and the first one is here."),
    answer.clusters.length > 0 && table("Clusters, those that are not ready first", [
      {label: "Cluster", cell: (one) => link(one, one.name)},
      {label: "State", cell: readiness},
      {label: "Templates", number: true, cell: (one) => count(one.templates)},
      {label: "Not fine", number: true, cell: (one) => (answer.knowsNotFine
        ? (one.notFine ? el("a", {href: hash("", {cluster: one.name})}, String(one.notFine)) : "0") : UNKNOWN)},
      {label: "Evicting", number: true, cell: (one) => count(one.evicting)},
      {label: "Taints", cell: taints},
      {label: "Room taken", cell: (one) => ["cpu", "memory", "pods"].map((name) => bar(name, one.room[name]))},
      {label: "Kubernetes", cell: (one) => `${one.version} ${one.mode}`},
      {label: "What if", cell: (one) => el("a", {href: hash("what-if", {drain: one.name})}, `${one.name} is drained`)},
    ], [...answer.clusters].sort((a, b) => (a.ready === "True") - (b.ready === "True"))),
    unread(answer.unread),
  ],
};

// ---- Policies.

function selector(one) {
  return el("div", null, one.text, " ",
    one.selectsNothing && mark("warn", "selects nothing"),
    one.governedBy && el("span", {class: "soft"}, ` governed by ${one.governedBy}`),
    one.alsoIn.length > 0 && el("span", {class: "soft"}, ` also in ${one.alsoIn.join(", ")}`));
}

function claims(one) {
  if (one.claims === null) return UNKNOWN;
  if (one.claims === 0) return mark("warn", "governs nothing");
  const templates = plural(one.claims, "template");
  if (!one.notFine) return templates;
  return [templates, ", ", el("a", {href: hash("", {policy: one.name, namespace: one.namespace})}, `${one.notFine} not fine`)];
}

function policiesHeadline(all, idle) {
  const number = plural(all.length, "policy").replace("policys", "policies");
  const known = all.filter((one) => one.claims !== null);
  if (idle.length) return `${idle.length} of ${number} ${idle.length === 1 ? "governs" : "govern"} nothing.`;
  if (known.length < all.length) return `What ${known.length ? "each" : "any"} of ${number} governs is not known.`;
  return "Each policy governs something.";
}

export const policies = {
  title: "Policies",
  path: "policies",
  follows: "always",
  undrawn: ["notFineReadAt"],
  parameters: (route) => given(route),
  form: (route) => folded(filter("policies", route, [{name: "namespace", label: "Namespace"}], "Only this"), "Only a namespace", route),
  render: (answer, route) => {
    const idle = answer.policies.filter((one) => one.claims === 0);
    const order = (a, b) => (a.claims !== 0) - (b.claims !== 0) || a.namespace.localeCompare(b.namespace)
      || b.priority - a.priority || a.name.localeCompare(b.name);
    return [
      el("h1", null, policiesHeadline(answer.policies, idle)),
      unknown(answer.unknown),
      answer.policies.length === 0 && answer.unread.length === 0 && el("p", null, "There is no PropagationPolicy or ClusterPropagationPolicy: nothing goes to members."),
      policies.form(route),
      idle.filter((one) => one.headline).map((one) => el("section", {class: "group"},
        el("h2", null, link(one)), el("p", null, one.headline),
        one.advice && el("p", {class: "advice"}, el("strong", null, "What to do: "), one.advice))),
      answer.policies.length > 0 && table("Policies: those that govern nothing first, then by namespace and priority", [
        {label: "Policy", cell: (one) => link(one)},
        {label: "Governs", cell: claims},
        {label: "Priority", number: true, cell: (one) => `${one.priority}${one.preempts ? ", preempts" : ""}`},
        {label: "Selectors", cell: (one) => one.selectors.map(selector)},
        {label: "Created", cell: (one) => (one.deleting ? ["being deleted", lasting(one.deleting)] : when(one.created))},
      ], [...answer.policies].sort(order)),
      unread(answer.unread),
    ];
  },
};

// ---- The last hour.

const MINUTES = [15, 60, 240, 1440];

function isWhole(route) {
  return route.query.get("only") !== "warnings";
}

// The address of the view with another time, or with other entries.
function hourHash(route, change) {
  return hash("hour", {minutes: route.query.get("minutes") || "60", only: isWhole(route) ? "" : "warnings", ...change});
}

function howFarBack(route) {
  const minutes = Number(route.query.get("minutes") || 60);
  return ["How far back: ", MINUTES.map((one) => [el("a", {
    href: hourHash(route, {minutes: String(one)}), "aria-current": one === minutes ? "true" : null,
  }, one < 120 ? `${one} min` : `${one / 60} h`), " "])];
}

export const hour = {
  title: "The last hour",
  path: "hour",
  follows: "always",
  rest: 20000,  // It reads thousands of objects.
  undrawn: ["since"],
  parameters: (route) => given(route, ["only"]),
  form: (route) => [el("p", {class: "choices"}, howFarBack(route)), filter("hour", route, [{name: "minutes", label: "Minutes (1 to 1440)"}], "Show",
    isWhole(route) ? {} : {only: "warnings"})],
  render: (answer, route) => {
    const minutes = Number(route.query.get("minutes") || 60);
    const warnings = answer.entries.filter((one) => one.severity === "warning");
    const entries = isWhole(route) ? answer.entries : warnings;
    const isUnread = answer.unread.length > 0;
    const span = plural(...(minutes % 60 === 0 ? [minutes / 60, "hour"] : [minutes, "minute"])).replace(/^1 /, "");
    return [
      el("h1", null, answer.entries.length ? `${plural(answer.entries.length + answer.leftOut, "change")} in the last ${span}, `
        + `${plural(warnings.length, "warning")}.` : `Nothing ${isUnread ? "that could be read " : ""}has changed in the last ${span}.`),
      el("p", {class: "choices"}, howFarBack(route), "· ",
        el("a", {href: hourHash(route, {only: isWhole(route) ? "warnings" : ""})}, isWhole(route) ? "only warnings" : "normal events, too")),
      answer.entries.length === 0 && !isUnread && el("p", null, "No event was recorded, no cluster changed its state, no policy and no template was written, and nothing ",
        "is being evicted."),
      entries.length > 0 && table("The latest first", [
        {label: "About", cell: (one) => (one.about.type && one.about.name ? link(one.about) : nameOf(one.about))},
        {label: "When", cell: (one) => when(one.time)},
        {label: "What", cell: (one) => [mark(one.severity === "warning" ? "bad" : "good", one.severity === "warning" ? "warning" : one.what), " ",
          one.reason && el("a", {href: hash("explain", {text: one.reason})}, one.reason), " ", one.message,
          one.count > 1 && el("span", {class: "soft"}, ` (${one.count} times)`)]},
        {label: "By", cell: (one) => one.from},
      ], entries, (one) => [nameOf(one.about), one.reason || one.what, one.message].join(" ")),
      answer.leftOut > 0 && el("p", {class: "soft"}, `${answer.leftOut} earlier ones are left out.`),
      unread(answer.unread),
    ];
  },
};
