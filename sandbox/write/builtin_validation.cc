// One function for each kind, found by a table, and a second table of fields that must not change.
// They look at an object after defaults and admission, collect all mistakes in the order of the
// fields, and word them as kube-apiserver does (pkg/apis/<group>/validation of Kubernetes), because
// kubectl shows the words and tests compare them. It is a selection: what users get wrong most, and
// what the simulated controllers could not work with. Statuses have rules of their own
// (status_validation.cc).

#include "sandbox/write/builtin_validation.h"

#include <set>
#include <string>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "base/cron_schedule.h"
#include "base/time_zone.h"
#include "kube/meta/selector.h"
#include "sandbox/kinds/schema.h"

namespace sandbox {
namespace {

constexpr size_t kMaxDataBytes = 1 << 20;  // The limit of ConfigMaps and Secrets.

void NonNegative(const json::Value& object, absl::string_view field, const std::string& path,
                 FieldErrors& errors) {
  const json::Value& v = object[field];
  if (v.is_number() && v.AsDouble() < 0) {
    errors.Invalid(FieldPath(path, field), v, "must be greater than or equal to 0");
  }
}

void ValidatePort(const json::Value& port, const std::string& path, FieldErrors& errors) {
  if (port.AsInt() < 1 || port.AsInt() > 65535) {
    errors.Invalid(path, port, "must be between 1 and 65535, inclusive");
  }
}

void ValidateQuantities(const json::Value& resources, const std::string& path,
                        FieldErrors& errors) {
  for (absl::string_view kind : {"limits", "requests"}) {
    for (const json::Member& amount : resources[kind].members()) {
      if (amount.value.is_number() && amount.value.AsDouble() >= 0) continue;
      if (!amount.value.AsString().empty() && amount.value.AsString()[0] != '-') continue;
      errors.Invalid(absl::StrCat(path, ".", kind, "[", amount.name(), "]"), amount.value,
                     "must be greater than or equal to 0");
    }
  }
}

void ValidateContainers(const json::Value& spec, absl::string_view list, const std::string& path,
                        FieldErrors& errors) {
  std::set<std::string> names;
  for (size_t i = 0; i < spec[list].size(); ++i) {
    const json::Value& container = spec[list].At(i);
    const std::string at = FieldPath(FieldPath(path, list), i);
    const std::string name = container["name"].ToString();
    if (name.empty()) {
      errors.Required(FieldPath(at, "name"));
    } else if (const auto s = kube::ValidateDns1123Label(name); !s.ok()) {
      errors.Invalid(FieldPath(at, "name"), name, s.message());
    } else if (!names.insert(name).second) {
      errors.Duplicate(FieldPath(at, "name"), name);
    }
    if (container["image"].AsString().empty()) errors.Required(FieldPath(at, "image"));
    ValidateQuantities(container["resources"], FieldPath(at, "resources"), errors);
    for (size_t k = 0; k < container["ports"].size(); ++k) {
      ValidatePort(container["ports"].At(k)["containerPort"],
                   FieldPath(FieldPath(FieldPath(at, "ports"), k), "containerPort"), errors);
    }
  }
}

void ValidatePodSpec(const json::Value& spec, const std::string& path, FieldErrors& errors) {
  if (spec["containers"].empty()) errors.Required(FieldPath(path, "containers"));
  ValidateContainers(spec, "containers", path, errors);
  ValidateContainers(spec, "initContainers", path, errors);
  const std::string policy = spec["restartPolicy"].ToString();
  if (policy != "Always" && policy != "OnFailure" && policy != "Never") {
    errors.NotSupported(FieldPath(path, "restartPolicy"), policy, {"Always", "Never", "OnFailure"});
  }
}

void ValidateTemplate(const json::Value& spec, FieldErrors& errors) {
  for (const json::Member& label : spec.Get({"template", "metadata", "labels"}).members()) {
    const auto s = kube::ValidateQualifiedName(label.name());
    if (!s.ok()) errors.Invalid("spec.template.labels", label.name(), s.message());
  }
  ValidatePodSpec(spec["template"]["spec"], "spec.template.spec", errors);
}

void ValidateSelectedWorkload(const kube::Object& object, FieldErrors& errors) {
  const json::Value& spec = object.spec();
  NonNegative(spec, "replicas", "spec", errors);
  NonNegative(spec, "minReadySeconds", "spec", errors);
  const json::Value& selector = spec["selector"];
  if (selector.is_null()) errors.Required("spec.selector");
  const auto parsed = kube::LabelSelector::FromJson(selector);
  if (!parsed.ok()) {
    errors.Invalid("spec.selector", selector, parsed.status().message());
  } else if (!selector.is_null() && parsed->MatchesEverything()) {
    errors.Invalid("spec.selector", selector, "empty selector is invalid for deployment");
  } else if (!parsed->Matches(spec.Get({"template", "metadata", "labels"}))) {
    errors.Invalid("spec.template.metadata.labels", spec.Get({"template", "metadata", "labels"}),
                   "`selector` does not match template `labels`");
  }
  ValidateTemplate(spec, errors);
  const json::Value& policy = spec.Get({"template", "spec", "restartPolicy"});
  // Pods that end would be replaced for ever; only Jobs may have them.
  if (policy.AsString() == "OnFailure" || policy.AsString() == "Never") {
    errors.NotSupported("spec.template.spec.restartPolicy", policy, {"Always"});
  }
}

// Checks a generated selector and its labels, so that a Job selects only its own pods.
void ValidateGeneratedSelector(const kube::Object& job, FieldErrors& errors) {
  const json::Value& labels = job.spec().Get({"template", "metadata", "labels"});
  json::Value expected = json::Value::Object();
  // The older labels are without a prefix; clients still select by them.
  for (absl::string_view prefix : {"", "batch.kubernetes.io/"}) {
    expected.Set(absl::StrCat(prefix, "controller-uid"), job.uid());
    expected.Set(absl::StrCat(prefix, "job-name"), job.name());
  }
  for (const json::Member& wanted : expected.members()) {
    const std::string must = absl::StrCat("must be '", wanted.value.AsString(), "'");
    const std::string field = absl::StrCat("spec.template.metadata.labels[", wanted.name(), "]");
    if (labels[wanted.name()] != wanted.value) errors.Invalid(field, labels, must);
  }
  const json::Value& selector = job.spec()["selector"];
  const auto parsed = kube::LabelSelector::FromJson(selector);
  if (parsed.ok() && !parsed->Matches(expected)) {
    errors.Invalid("spec.selector", selector, "`selector` not auto-generated");
  }
}

void ValidateJobSelector(const kube::Object& job, FieldErrors& errors) {
  const json::Value& selector = job.spec()["selector"];
  const json::Value& labels = job.spec().Get({"template", "metadata", "labels"});
  const auto parsed = kube::LabelSelector::FromJson(selector);
  if (selector.is_null()) {
    errors.Required("spec.selector");
  } else if (!parsed.ok()) {
    errors.Invalid("spec.selector", selector, parsed.status().message());
  } else if (!parsed->Matches(labels)) {
    errors.Invalid("spec.template.metadata.labels", labels,
                   "`selector` does not match template `labels`");
  }
  if (!job.spec()["manualSelector"].AsBool()) ValidateGeneratedSelector(job, errors);
}

void ValidateJob(const kube::Object& object, FieldErrors& errors) {
  const json::Value& spec = object.spec();
  ValidateJobSelector(object, errors);
  for (absl::string_view field : {"parallelism", "completions", "backoffLimit",
                                  "activeDeadlineSeconds", "ttlSecondsAfterFinished"}) {
    NonNegative(spec, field, "spec", errors);
  }
  ValidateTemplate(spec, errors);
  if (spec.Get({"template", "spec", "restartPolicy"}).AsString() == "Always") {
    errors.Required("spec.template.spec.restartPolicy", "valid values: \"OnFailure\", \"Never\"");
  }
}

void ValidateService(const kube::Object& object, FieldErrors& errors) {
  const json::Value& spec = object.spec();
  const std::string type = spec["type"].ToString();
  if (type != "ClusterIP" && type != "NodePort" && type != "LoadBalancer" &&
      type != "ExternalName") {
    errors.NotSupported("spec.type", type,
                        {"ClusterIP", "ExternalName", "LoadBalancer", "NodePort"});
  }
  const json::Value& ports = spec["ports"];
  // A headless Service, and one that is only a name, need no ports.
  if (ports.empty() && type != "ExternalName" && spec["clusterIP"].AsString() != "None") {
    errors.Required("spec.ports");
  }
  std::set<std::string> names;
  for (size_t i = 0; i < ports.size(); ++i) {
    const std::string at = FieldPath("spec.ports", i);
    const std::string name = ports.At(i)["name"].ToString();
    if (name.empty() && ports.size() > 1) errors.Required(FieldPath(at, "name"));
    if (!name.empty() && !names.insert(name).second) errors.Duplicate(FieldPath(at, "name"), name);
    ValidatePort(ports.At(i)["port"], FieldPath(at, "port"), errors);
  }
}

void ValidateDataKeys(const kube::Object& object, FieldErrors& errors) {
  size_t total = 0;
  for (absl::string_view field : {"data", "binaryData"}) {
    for (const json::Member& entry : object.root()[field].members()) {
      const std::string key(entry.name());
      const bool ok = !key.empty() && key.size() <= 253 && key != "." && key != ".." &&
                      key.find_first_not_of(
                          "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
                          "0123456789-._") == std::string::npos;
      if (!ok) {
        errors.Invalid(absl::StrCat(field, "[", key, "]"), key,
                       "a valid config key must consist of alphanumeric characters, '-', '_' or "
                       "'.' (e.g. 'key.name',  or 'KEY_NAME',  or 'key-name', regex used for "
                       "validation is '[-._a-zA-Z0-9]+')");
      }
      total += entry.value.AsString().size();
    }
  }
  if (total > kMaxDataBytes) errors.TooLong("", kMaxDataBytes);
}

void ValidateSecret(const kube::Object& object, FieldErrors& errors) {
  ValidateDataKeys(object, errors);
  if (object.root()["type"].AsString() != "kubernetes.io/tls") return;
  for (absl::string_view key : {"tls.crt", "tls.key"}) {
    if (!object.root()["data"].Has(key)) errors.Required(absl::StrCat("data[", key, "]"));
  }
}

void ValidatePod(const kube::Object& object, FieldErrors& errors) {
  ValidatePodSpec(object.spec(), "spec", errors);
}

void ValidateAutoscaler(const kube::Object& object, FieldErrors& errors) {
  const json::Value& spec = object.spec();
  if (spec["maxReplicas"].AsInt() < 1) {
    errors.Invalid("spec.maxReplicas", spec["maxReplicas"].AsInt(), "must be greater than 0");
  }
  if (spec["maxReplicas"].AsInt() < spec["minReplicas"].AsInt()) {
    errors.Invalid("spec.maxReplicas", spec["maxReplicas"],
                   "must be greater than or equal to `minReplicas`");
  }
}

void ValidateRoleBinding(const kube::Object& object, FieldErrors& errors) {
  if (object.root()["roleRef"]["name"].AsString().empty()) errors.Required("roleRef.name");
}

void ValidateCronJob(const kube::Object& object, FieldErrors& errors) {
  const json::Value &schedule = object.spec()["schedule"], &zone = object.spec()["timeZone"];
  if (schedule.AsString().empty()) {
    errors.Required("spec.schedule");
  } else if (absl::StrContains(schedule.AsString(), "TZ")) {
    errors.Invalid("spec.schedule", schedule,
                   "cannot use TZ or CRON_TZ in schedule, use timeZone field instead");
  } else {
    const auto parsed = base::CronSchedule::Parse(schedule.AsString(), absl::UTCTimeZone());
    if (!parsed.ok()) errors.Invalid("spec.schedule", schedule, parsed.status().message());
  }
  if (zone.is_null()) return;
  const absl::Status known = base::FindTimeZone(zone.AsString()).status();
  if (!known.ok()) errors.Invalid("spec.timeZone", zone, known.message());
}

struct Validator {
  absl::string_view group;
  absl::string_view kind;
  void (*validate)(const kube::Object& object, FieldErrors& errors);
};

constexpr Validator kValidators[] = {
    {"apps", "Deployment", ValidateSelectedWorkload},
    {"apps", "ReplicaSet", ValidateSelectedWorkload},
    {"apps", "StatefulSet", ValidateSelectedWorkload},
    {"apps", "DaemonSet", ValidateSelectedWorkload},
    {"batch", "Job", ValidateJob},
    {"batch", "CronJob", ValidateCronJob},
    {"", "Service", ValidateService},
    {"", "ConfigMap", ValidateDataKeys},
    {"", "Secret", ValidateSecret},
    {"", "Pod", ValidatePod},
    {"autoscaling", "HorizontalPodAutoscaler", ValidateAutoscaler},
    {"rbac.authorization.k8s.io", "RoleBinding", ValidateRoleBinding},
    {"rbac.authorization.k8s.io", "ClusterRoleBinding", ValidateRoleBinding},
};

struct ImmutableField {
  absl::string_view group;
  absl::string_view kind;
  absl::string_view parent;
  absl::string_view name;
};

constexpr ImmutableField kImmutable[] = {
    {"apps", "Deployment", "spec", "selector"},
    {"apps", "ReplicaSet", "spec", "selector"},
    {"apps", "DaemonSet", "spec", "selector"},
    {"batch", "Job", "spec", "selector"},
    {"batch", "Job", "spec", "completions"},
    {"", "Secret", "", "type"},
    {"rbac.authorization.k8s.io", "RoleBinding", "", "roleRef"},
    {"rbac.authorization.k8s.io", "ClusterRoleBinding", "", "roleRef"},
};

void ValidateImmutableData(const kube::Object& old_object, const kube::Object& object,
                           FieldErrors& errors) {
  if (!old_object.root()["immutable"].AsBool()) return;
  if (!object.root()["immutable"].AsBool()) {
    errors.Forbidden("immutable", "field is immutable when `immutable` is set");
  }
  for (absl::string_view field : {"data", "binaryData"}) {
    if (old_object.root()[field] != object.root()[field]) {
      errors.Forbidden(field, "field is immutable when `immutable` is set");
    }
  }
}

// Only some parts of a StatefulSet's spec may change.
void ValidateStatefulSetUpdate(const kube::Object& old_object, const kube::Object& object,
                               FieldErrors& errors) {
  json::Value before = old_object.spec();
  for (absl::string_view field :
       {"replicas", "ordinals", "template", "updateStrategy", "revisionHistoryLimit",
        "persistentVolumeClaimRetentionPolicy", "minReadySeconds"}) {
    if (object.spec().Has(field)) {
      before.Set(field, object.spec()[field]);
    } else {
      before.Erase(field);
    }
  }
  // `before` has now the new values of everything that may change: what still differs may not.
  if (before == object.spec()) return;
  errors.Forbidden("spec",
                   "updates to statefulset spec for fields other than 'replicas', 'ordinals', "
                   "'template', 'updateStrategy', 'revisionHistoryLimit', "
                   "'persistentVolumeClaimRetentionPolicy' and 'minReadySeconds' are forbidden");
}

// Before a suspended Job has started, a queue may determine where its pods run
// (ValidateJobUpdate in Kubernetes' pkg/apis/batch/validation).
void ValidateJobTemplateUpdate(const kube::Object& old_object, const kube::Object& object,
                               FieldErrors& errors) {
  constexpr std::pair<absl::string_view, absl::string_view> kMovable[] = {
      {"metadata", "annotations"}, {"metadata", "labels"},  {"spec", "nodeSelector"},
      {"spec", "schedulingGates"}, {"spec", "tolerations"},
  };
  json::Value before = old_object.spec()["template"];
  const json::Value& after = object.spec()["template"];
  const bool may_move =
      old_object.spec()["suspend"].AsBool() && old_object.status()["startTime"].AsString().empty();
  for (const auto& [parent, name] : kMovable) {
    if (!may_move) break;
    const json::Value* moved = after[parent].Find(name);
    before.Erase({parent, name});
    if (moved != nullptr) before.Set({parent, name}, *moved);
  }
  if (before == after) return;
  errors.Invalid("spec.template", after, "field is immutable");
}

}  // namespace

void ValidateBuiltin(const ResourceInfo& info, const kube::Object& object, FieldErrors& errors) {
  for (const Validator& v : kValidators) {
    if (v.group == info.resource.gvk.group && v.kind == info.resource.gvk.kind) {
      v.validate(object, errors);
    }
  }
}

void ValidateBuiltinUpdate(const ResourceInfo& info, const kube::Object& old_object,
                           const kube::Object& object, FieldErrors& errors) {
  const kube::Gvk& gvk = info.resource.gvk;
  for (const ImmutableField& f : kImmutable) {
    if (f.group != gvk.group || f.kind != gvk.kind) continue;
    const auto of = [&f](const kube::Object& o) -> const json::Value& {
      return f.parent.empty() ? o.root()[f.name] : o.root()[f.parent][f.name];
    };
    if (of(old_object) != of(object)) {
      errors.Invalid(FieldPath(f.parent, f.name), of(object), "field is immutable");
    }
  }
  if (gvk.group.empty() && (gvk.kind == "ConfigMap" || gvk.kind == "Secret")) {
    ValidateImmutableData(old_object, object, errors);
  }
  if (gvk.kind == "StatefulSet") ValidateStatefulSetUpdate(old_object, object, errors);
  if (gvk.kind == "Job") ValidateJobTemplateUpdate(old_object, object, errors);
}

}  // namespace sandbox
