#include "lens/serve/found.h"

#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "lens/serve/shown.h"

namespace lens::serve {
namespace {

// A Pod has its containers in the spec, a workload in its template, a CronJob one level deeper.
const json::Value& PodSpecOf(const kube::Object& object) {
  if (object.kind() == "Pod") return object.spec();
  if (object.kind() == "CronJob") {
    return object.Get({"spec", "jobTemplate", "spec", "template", "spec"});
  }
  return object.Get({"spec", "template", "spec"});
}

std::vector<std::string> ImagesOf(const kube::Object& object) {
  std::vector<std::string> images;
  for (const absl::string_view list : {"initContainers", "containers"}) {
    for (const json::Value& container : PodSpecOf(object)[list].items()) {
      images.push_back(container["image"].ToString());
    }
  }
  return images;
}

std::string OwnerOf(const kube::Object& object) {
  const auto owners = object.OwnerRefs();
  if (owners.empty()) return "";
  return absl::StrCat(owners[0].kind, "/", owners[0].name);
}

// "Running", "2/3 ready", "True" (of a Node's Ready), "".
std::string StateOf(const kube::Object& object) {
  const json::Value& status = object.status();
  if (status["phase"].is_string()) return status["phase"].ToString();
  const json::Value& wanted = object.spec()["replicas"];
  if (wanted.is_int()) {
    return absl::StrCat(status["readyReplicas"].AsInt(), "/", wanted.AsInt(), " ready");
  }
  const json::Value* ready = kube::FindCondition(status["conditions"], "Ready");
  return ready == nullptr ? "" : absl::StrCat("Ready=", (*ready)["status"].AsString());
}

bool Contains(absl::string_view text, absl::string_view part) {
  return absl::StrContains(absl::AsciiStrToLower(text), absl::AsciiStrToLower(part));
}

}  // namespace

Wanted Wanted::Of(const Parameters& parameters) {
  return {parameters.Get("namespace"), parameters.Get("cluster"), parameters.Get("name"),
          parameters.Get("labels"),    parameters.Get("image"),   parameters.Get("node"),
          parameters.Get("owner")};
}

bool Wanted::Has(const kube::Object& object) const {
  if (!Contains(object.name(), name) || !Contains(OwnerOf(object), owner)) return false;
  if (!node.empty() && PodSpecOf(object)["nodeName"].AsString() != node) return false;
  if (image.empty()) return true;
  for (const std::string& one : ImagesOf(object)) {
    if (Contains(one, image)) return true;
  }
  return false;
}

json::Value FoundJson(const kube::Object& object, const std::string& cluster) {
  json::Value images = json::Value::Array();
  for (const std::string& image : ImagesOf(object)) images.Append(Shortened(image));
  json::Value json = SubjectOf(object.gvk(), object.key());
  json.Set("cluster", cluster);
  json.Set("created", object.metadata()["creationTimestamp"]);
  json.Set("owner", OwnerOf(object));
  json.Set("node", PodSpecOf(object)["nodeName"].AsString());
  json.Set("images", std::move(images));
  json.Set("state", StateOf(object));
  return json;
}

}  // namespace lens::serve
