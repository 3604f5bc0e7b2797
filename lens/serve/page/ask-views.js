// Views that ask for something first: search in the members, what if, and what a reason means.

import {command, el, hash, link, mark, open, plural, table, unread, when} from "./dom.js";
import {filter, given, unknown} from "./list-views.js";

// ---- Search.

const FIELDS = [
  {name: "type", label: "Kind (Pod)"}, {name: "name", label: "Name contains"}, {name: "image", label: "Image contains"},
  {name: "labels", label: "Labels (app=web)"}, {name: "namespace", label: "Namespace"}, {name: "node", label: "Node"},
  {name: "owner", label: "Owner contains"}, {name: "cluster", label: "Cluster"},
];

// As `given`; null if the address asks for nothing yet.
function question(route) {
  const parameters = given(route);
  return parameters.length ? parameters : null;
}

export const search = {
  title: "Search",
  path: "search",
  follows: "",
  parameters: question,
  form: (route) => filter("search", route, FIELDS, "Search"),
  render: (answer, route) => [
    el("h1", null, answer ? `${answer.items.length}${answer.isCut ? " or more" : ""} found.` : "Search in all members"),
    unknown(answer?.unknown),
    search.form(route),
    !answer && el("p", null, "Fill in one field or several: what is found has all of them. ",
      el("a", {href: hash("search", {image: "nginx"})}, "Who runs nginx?")),
    answer && el("p", {class: "soft"}, answer.via === "karmada-search" ? "From the cache of karmada-search: of the clusters and kinds that its registries name."
      : `${plural(answer.clustersAsked, "cluster")} ${answer.clustersAsked === 1 ? "was" : "were"} asked through the control plane's proxy.`),
    answer?.items.length === 0 && el("p", null, "No object that could be read has all of this. Kinds are those that kubectl knows, and names and images are compared without case."),
    answer?.items.length > 0 && table("By namespace, name and cluster", [
      {label: "Object", cell: (one) => el("bdi", null, `${one.kind} ${one.namespace ? `${one.namespace}/` : ""}${one.name}`)},
      {label: "Cluster", cell: (one) => link({type: "Cluster.v1alpha1.cluster.karmada.io", namespace: "", name: one.cluster}, one.cluster)},
      {label: "State", cell: (one) => one.state},
      {label: "Images", cell: (one) => one.images.map((image) => el("div", null, el("code", null, image)))},
      {label: "Node", cell: (one) => one.node},
      {label: "Owner", cell: (one) => one.owner},
      {label: "Template", cell: (one) => (one.owner ? "" : link(one, "its way"))},
      {label: "Created", cell: (one) => when(one.created)},
    ], answer.items),
    answer?.isCut && el("p", {class: "soft"}, "There are more: ask for less."),
    unread(answer?.unread),
  ],
};

// ---- What if.

const CHANGES = [
  ["drain", "is drained (taint drain:NoExecute)"], ["lost", "does not answer any more"], ["without", "leaves the fleet"],
  ["cordon", "takes nothing new"], ["uncordon", "takes new things again"],
];
const OTHERS = [["taint", "CLUSTER:KEY=VALUE:EFFECT"], ["label", "CLUSTER:KEY=VALUE"], ["capacity", "CLUSTER:cpu=10,memory=20Gi"]];
const ALL = [...CHANGES, ...OTHERS].map(([name]) => name);

const VERDICTS = {
  moves: ["warn", "moves"], spreads: ["good", "spreads"], shrinks: ["warn", "shrinks"], "no-room": ["bad", "no room"],
  pinned: ["bad", "no other cluster"], quota: ["bad", "quota refuses it"], stays: ["bad", "stays there"], nowhere: ["bad", "in no cluster then"],
  "not-simulated": ["warn", "not simulated"], unchanged: ["good", "unchanged"],
};

const ACTIONS = {create: "comes", change: "changes", delete: "goes", release: "is released, and stays there", fail: "the manifest cannot be made"};

function asked(route) {
  return ALL.flatMap((name) => route.query.getAll(name).filter(Boolean).map((value) => [name, value]));
}

// Changes that somebody has asked for a place for at an address, and not sent yet.
let drafted = {at: null, count: 0};

function changeFields(number, [name, value]) {
  const choices = [...CHANGES, ...OTHERS.map(([other, form]) => [other, `${other}: ${form}`])];
  const words = el("span");
  const select = el("select", {id: `change-${number}`, onchange: () => {
    const form = OTHERS.find(([other]) => other === select.value)?.[1];
    words.textContent = form ? `this: ${form}` : "this cluster";
  }}, choices.map(([choice, text]) => el("option", {value: choice, selected: choice === name}, text)));
  select.dispatchEvent(new Event("change"));
  return el("fieldset", null, el("legend", null, number === 1 ? "What if" : `and, as change ${number}, if`),
    el("label", null, words, el("input", {id: `cluster-${number}`, autocomplete: "off", autocapitalize: "none", spellcheck: "false", value})),
    el("label", null, "what happens to it", select));
}

// All changes are asked about together. One whose cluster is empty does not count.
function changesForm(route) {
  const changes = asked(route);
  const rowsWanted = Math.max(1, changes.length, drafted.at === location.hash ? drafted.count : 0);
  while (changes.length < rowsWanted) changes.push(["drain", ""]);
  const rows = el("div", {class: "changes"}, changes.map((change, i) => changeFields(i + 1, change)));
  const add = () => {
    const added = changeFields(rows.children.length + 1, ["drain", ""]);
    rows.append(added);
    drafted = {at: location.hash, count: rows.children.length};
    added.querySelector("input").focus();
  };
  const submit = (event) => {
    event.preventDefault();
    const wanted = {};
    for (const row of rows.children) {
      const cluster = row.querySelector("input").value.trim();
      if (cluster) (wanted[row.querySelector("select").value] ??= []).push(cluster);
    }
    const first = rows.querySelector("input");
    if (!Object.keys(wanted).length) {
      first.setCustomValidity("Name a cluster.");
      return void first.reportValidity();
    }
    drafted = {at: null, count: 0};
    open(hash("what-if", wanted));
  };
  return el("form", {class: "ask", onsubmit: submit, oninput: () => rows.querySelector("input").setCustomValidity("")}, rows,
    el("button", {type: "button", onclick: add}, "And another change"), el("button", null, "Simulate"));
}

function difference(text) {
  return el("pre", null, text.split("\n").map((line) => el("span", {
    class: line.startsWith("+") ? "add" : line.startsWith("-") ? "remove" : null,
  }, `${line}\n`)));
}

// As karmada-lens plan says it.
function leavingWords({cluster, how, after, atMost, lost}) {
  const begins = after && after !== "0" ? `after ${after}` : "at once";
  const words = {
    "at-once": "at once: its copy there does not wait until others are healthy",
    gracefully: `${begins} (evicted gracefully): both copies are wanted until the others are healthy, ${atMost} at most`,
    directly: `${begins} (evicted directly): nothing starts before its copy there is gone`,
    follows: "with what needs it",
  };
  const ends = how === "directly" ? `, which is when ${cluster} answers again, or after ${atMost}` : `; its copy there goes only when ${cluster} answers again`;
  return `leaves ${cluster} ${words[how] ?? how}${lost ? ends : ""}`;
}

function fate(one) {
  const [kind, text] = VERDICTS[one.whatIf?.verdict] ?? ["", ""];
  const shownClusters = one.clusters.filter((place) => place.action !== "none");
  return el("section", {class: "group"},
    el("h2", null, link(one), " ", text && mark(kind, text)),
    one.whatIf?.why && el("p", null, one.whatIf.why),
    one.notScheduled && el("p", null, `The scheduler: ${one.notScheduled}`),
    el("ul", null, (one.whatIf?.leaves ?? []).map((leaving) => el("li", null, leavingWords(leaving))),
      shownClusters.map((place) => el("li", null, `${place.name}: ${ACTIONS[place.action] ?? place.action}`,
        place.replicas !== null && place.replicas !== undefined && `, ${place.replicasBefore ?? 0} → ${place.replicas} replicas`,
        place.diff && el("details", null, el("summary", null, "difference"), difference(place.diff))))));
}

export const whatIf = {
  title: "What if",
  path: "what-if",
  follows: "",
  patience: 150000,  // The server ends a simulation after two minutes.
  waiting: "Simulating: this takes some seconds, on a large fleet up to a minute…",
  parameters: question,
  form: changesForm,
  render: (answer, route) => {
    if (!answer) {
      return [el("h1", null, "What if a cluster were drained?"), changesForm(route),
        el("p", null, "The controllers and a scheduler run on a copy of the control plane in this program: nothing is written. ",
          "It takes some seconds on a large fleet. What manifests would change says karmada-lens plan -f FILE --live.")];
    }
    const counts = Object.entries(answer.whatIf?.templates ?? {}).filter(([, count]) => count > 0);
    const changed = answer.templates;
    const all = changed.length + answer.leftOut;
    return [
      el("h1", null, all ? `${all} of ${all + answer.unchanged} templates would be affected.` : "No template would be affected."),
      el("p", null, el("strong", null, (answer.whatIf?.changes ?? []).join(", ")), counts.length > 0 && ": ",
        counts.map(([name, count]) => [mark(VERDICTS[name]?.[0] ?? "", `${count} ${VERDICTS[name]?.[1] ?? name}`), " "])),
      (answer.whatIf?.notes ?? []).length > 0 && el("div", {class: "notes"}, answer.whatIf.notes.map((note) => el("p", null, note))),
      changesForm(route),
      changed.map(fate),
      answer.leftOut > 0 && el("p", {class: "soft"}, `${answer.leftOut} more are left out: the command below shows all.`),
      answer.warnings.length > 0 && [el("h2", null, "Warnings"), el("ul", null, answer.warnings.map((one) => el("li", null,
        mark("warn", one.code), ` ${one.object}: ${one.message}`)))],
      el("h2", null, "In a terminal"), command("The same, with differences", answer.command),
    ];
  },
};

// ---- What a reason means.

export const explain = {
  title: "What a reason means",
  path: "explain",
  follows: "",
  parameters: question,
  form: (route) => filter("explain", route, [{name: "text", label: "Reason, condition or a line with one"}], "Explain"),
  render: (answer, route) => [
    el("h1", null, answer?.reasons.length ? route.query.get("text") : "What does a reason mean?"),
    explain.form(route),
    answer?.reasons.length === 0 && el("p", null, "No reason or condition that Karmada's programs write stands in it. Other programs have reasons of their own."),
    answer?.reasons.map((one) => el("section", {class: "group"},
      el("h2", null, `${one.reason} `, el("span", {class: "soft"}, one.condition ? `condition ${one.condition}, ${one.about}` : `${one.type} event, ${one.about}`)),
      one.whatToDo && el("p", {class: "advice"}, el("strong", null, "What to do: "), one.whatToDo),
      one.means && el("p", null, one.means),
      one.when && el("p", null, el("span", {class: "soft"}, "When: "), one.when),
      one.from && el("p", null, el("span", {class: "soft"}, "From: "), one.from))),
  ],
};
