// Sets the defaults of pod templates.

#include <string>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_split.h"
#include "sandbox/kinds/default_to.h"
#include "sandbox/write/builtin_defaults.h"

namespace sandbox {
namespace {

// Returns "Always" for :latest and untagged images, else "IfNotPresent".
absl::string_view PullPolicyOf(absl::string_view image) {
  if (absl::StrContains(image, '@')) return "IfNotPresent";
  const std::vector<absl::string_view> parts = absl::StrSplit(image, '/');
  const absl::string_view last = parts.back();
  const size_t colon = last.find(':');
  const absl::string_view tag =
      colon == absl::string_view::npos ? "latest" : last.substr(colon + 1);
  return tag == "latest" ? "Always" : "IfNotPresent";
}

void DefaultProbe(json::Value& container, absl::string_view name) {
  if (!container[name].is_object()) return;
  json::Value& probe = container.Mutable(name);
  DefaultTo(probe, "timeoutSeconds", 1);
  DefaultTo(probe, "periodSeconds", 10);
  DefaultTo(probe, "successThreshold", 1);
  DefaultTo(probe, "failureThreshold", 3);
  if (!probe["httpGet"].is_object()) return;
  json::Value& get = probe.Mutable("httpGet");
  DefaultTo(get, "path", "/");
  DefaultTo(get, "scheme", "HTTP");
}

// Limits without requests become requests too.
void DefaultRequests(json::Value& container) {
  json::Value& resources = container.Mutable("resources");
  for (const json::Member& limit : json::Value(resources["limits"]).members()) {
    if (!resources["requests"].Has(limit.name())) {
      resources.Set({"requests", limit.name()}, limit.value);
    }
  }
}

void DefaultEnv(json::Value& container) {
  for (size_t i = 0; i < container["env"].size(); ++i) {
    if (!container["env"].At(i)["valueFrom"]["fieldRef"].is_object()) continue;
    json::Value& variable = container.Mutable("env").MutableAt(i);
    DefaultTo(variable.Mutable("valueFrom").Mutable("fieldRef"), "apiVersion", "v1");
  }
}

void DefaultContainer(json::Value& container) {
  DefaultTo(container, "imagePullPolicy", PullPolicyOf(container["image"].AsString()));
  DefaultTo(container, "terminationMessagePath", "/dev/termination-log");
  DefaultTo(container, "terminationMessagePolicy", "File");
  DefaultTo(container, "resources", json::Value::Object());
  for (size_t i = 0; i < container["ports"].size(); ++i) {
    DefaultTo(container.Mutable("ports").MutableAt(i), "protocol", "TCP");
  }
  for (absl::string_view probe : {"livenessProbe", "readinessProbe", "startupProbe"}) {
    DefaultProbe(container, probe);
  }
  DefaultEnv(container);
}

void DefaultVolume(json::Value& volume) {
  for (absl::string_view source : {"configMap", "secret", "projected", "downwardAPI"}) {
    if (volume[source].is_object()) DefaultTo(volume.Mutable(source), "defaultMode", 420);
  }
  if (volume["hostPath"].is_object()) DefaultTo(volume.Mutable("hostPath"), "type", "");
}

void ForEach(json::Value& owner, absl::string_view list, void (*apply)(json::Value&)) {
  for (size_t i = 0; i < owner[list].size(); ++i) {
    if (owner[list].At(i).is_object()) apply(owner.Mutable(list).MutableAt(i));
  }
}

// Records whether anything is requested or limited, and whether both limits exist with equal
// requests.
struct Qos {
  bool any = false;
  bool guaranteed = true;
};

void Account(const json::Value& container, Qos& qos) {
  const json::Value& requests = container["resources"]["requests"];
  const json::Value& limits = container["resources"]["limits"];
  for (const char* name : {"cpu", "memory"}) {
    qos.any |= !requests[name].is_null() || !limits[name].is_null();
    const bool same = requests[name].is_null() || requests[name] == limits[name];
    qos.guaranteed &= !limits[name].is_null() && same;
  }
}

// For a pod and for a template.
void DefaultPodSpec(json::Value& spec) {
  DefaultTo(spec, "restartPolicy", "Always");
  DefaultTo(spec, "dnsPolicy", "ClusterFirst");
  DefaultTo(spec, "schedulerName", "default-scheduler");
  DefaultTo(spec, "terminationGracePeriodSeconds", 30);
  DefaultTo(spec, "securityContext", json::Value::Object());
  if (!spec["serviceAccountName"].is_null()) {
    DefaultTo(spec, "serviceAccount", spec["serviceAccountName"]);
  }
  ForEach(spec, "containers", DefaultContainer);
  ForEach(spec, "initContainers", DefaultContainer);
  ForEach(spec, "volumes", DefaultVolume);
}

}  // namespace

std::string QosClassOf(const json::Value& pod_spec) {
  Qos qos;
  for (const char* list : {"initContainers", "containers"}) {
    for (const json::Value& container : pod_spec[list].items()) Account(container, qos);
  }
  if (!qos.any) return "BestEffort";
  return qos.guaranteed ? "Guaranteed" : "Burstable";
}

void DefaultPod(json::Value& spec) {
  DefaultPodSpec(spec);
  ForEach(spec, "containers", DefaultRequests);
  ForEach(spec, "initContainers", DefaultRequests);
}

void DefaultPodTemplate(json::Value& pod_template) {
  DefaultTo(pod_template, "metadata", json::Value::Object());
  DefaultPodSpec(pod_template.Mutable("spec"));
}

}  // namespace sandbox
