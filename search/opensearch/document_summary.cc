#include <string>

#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "base/json.h"
#include "search/opensearch/document.h"

namespace search {
namespace {

// The number of containers, conditions and the like that a summary reads; an object of an API
// server has at most 1.5 MB.
constexpr size_t kMaxItems = 1000;

absl::Span<const json::Value> Items(const json::Value& list) {
  return list.items().subspan(0, kMaxItems);
}

// The pod's spec within a pod or something that makes pods.
const json::Value& PodSpecOf(const kube::Object& object) {
  if (object.kind() == "Pod" || object.spec()["containers"].is_array()) return object.spec();
  const json::Value& job = object.Get({"spec", "jobTemplate", "spec", "template", "spec"});
  return job.is_object() ? job : object.Get({"spec", "template", "spec"});
}

void AppendUnique(json::Value& list, const json::Value& value) {
  if (value.AsString().empty()) return;
  for (const json::Value& item : list.items()) {
    if (item == value) return;
  }
  list.Append(value);
}

json::Value ImagesOf(const kube::Object& object) {
  json::Value images = json::Value::Array();
  const json::Value& spec = PodSpecOf(object);
  for (const absl::string_view list : {"initContainers", "containers", "ephemeralContainers"}) {
    for (const json::Value& container : Items(spec[list])) {
      AppendUnique(images, container["image"]);
    }
  }
  return images;
}

// "Ready=True", so that one term is one condition.
json::Value ConditionsOf(const kube::Object& object) {
  json::Value out = json::Value::Array();
  for (const json::Value& condition : Items(object.status()["conditions"])) {
    const absl::string_view type = condition["type"].AsString();
    if (type.empty() || !condition["status"].is_string()) continue;
    out.Append(absl::StrCat(type, "=", condition["status"].AsString()));
  }
  return out;
}

// Why a container of the pod waits or has ended badly, else the pod's own reason.
json::Value PodReasonOf(const kube::Object& pod) {
  for (const absl::string_view list : {"initContainerStatuses", "containerStatuses"}) {
    for (const json::Value& container : Items(pod.status()[list])) {
      const json::Value& waiting = container.Get({"state", "waiting", "reason"});
      if (waiting.is_string()) return waiting;
      const json::Value& ended = container.Get({"state", "terminated"});
      if (ended["exitCode"].AsInt() != 0 && ended["reason"].is_string()) return ended["reason"];
    }
  }
  return pod.status()["reason"];
}

int64_t RestartsOf(const kube::Object& pod) {
  int64_t restarts = 0;
  for (const json::Value& container : Items(pod.status()["containerStatuses"])) {
    restarts += container["restartCount"].AsInt();
  }
  return restarts;
}

void SummarizePod(const kube::Object& pod, json::Value& summary) {
  if (pod.spec()["nodeName"].is_string()) summary.Set("node", pod.spec()["nodeName"]);
  if (const json::Value reason = PodReasonOf(pod); reason.is_string()) {
    summary.Set("reason", reason);
  }
  summary.Set("restarts", RestartsOf(pod));
}

void PutNumber(json::Value& summary, absl::string_view name, const json::Value& number) {
  if (number.is_int()) summary.Set(name, number);
}

}  // namespace

json::Value SummaryOf(const kube::Gvk& kind, const kube::Object& object) {
  json::Value summary = json::Value::Object();
  if (object.status()["phase"].is_string()) summary.Set("phase", object.status()["phase"]);
  if (kind.group.empty() && kind.kind == "Pod") SummarizePod(object, summary);
  const json::Value& conditions = object.status()["conditions"];
  if (kube::FindCondition(conditions, "Ready") != nullptr) {
    summary.Set("ready", kube::IsConditionTrue(conditions, "Ready"));
  }
  json::Value images = ImagesOf(object);
  if (!images.empty()) summary.Set("images", std::move(images));
  json::Value listed = ConditionsOf(object);
  if (!listed.empty()) summary.Set("conditions", std::move(listed));
  PutNumber(summary, "replicas", object.spec()["replicas"]);
  PutNumber(summary, "readyReplicas", object.status()["readyReplicas"]);
  return summary;
}

}  // namespace search
