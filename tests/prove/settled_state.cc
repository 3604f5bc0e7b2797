// How an object is made comparable: what a server numbers and dates is removed; each uid and each
// random id is replaced by the name of the object that has it, or by "?" when none has; each time
// by a word; an observed generation by whether it is the present one. Lists whose order means
// nothing (conditions, clusters, aggregated status) are sorted.

#include "tests/prove/settled_state.h"

#include <algorithm>
#include <set>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "absl/strings/string_view.h"
#include "api/keys.h"
#include "kube/meta/object.h"
#include "kube/meta/selector.h"
#include "sandbox/api_server.h"

namespace prove {
namespace {

constexpr char kHost[] = "host";

using Names = std::set<std::string, std::less<>>;

// What simulated controllers of members make, with names by chance, and what moves for ever.
bool IsLeftOut(absl::string_view kind) {
  static const auto* const kinds = new Names{"Event",
                                             "Lease",
                                             "Pod",
                                             "ReplicaSet",
                                             "ControllerRevision",
                                             "Node",
                                             "PodMetrics",
                                             "NodeMetrics",
                                             "CustomResourceDefinition"};
  return kinds->contains(kind);
}

bool IsDroppedMetadata(absl::string_view name) {
  static const auto* const names =
      new Names{"uid", "resourceVersion", "generation", "managedFields", "creationTimestamp"};
  return names->contains(name);
}

// Wherever they stand: what a server deals out (addresses, credentials), what members report about
// their machines, and how often a Deployment has changed there, which depends on whether its
// controller looks before or after a drift is reverted.
bool IsDropped(absl::string_view name) {
  static const auto* const names = new Names{"lastHeartbeatTime",
                                             "resourceSummary",
                                             "clusterIP",
                                             "clusterIPs",
                                             "resourceVersion",
                                             "nodePort",
                                             "apiEndpoint",
                                             "caBundle",
                                             "token",
                                             "deployment.kubernetes.io/revision"};
  return names->contains(name);
}

bool IsSet(absl::string_view name) {
  static const auto* const names =
      new Names{"conditions", "aggregatedStatus", "clusters",       "requiredBy", "finalizers",
                "taints",     "ownerReferences",  "apiEnablements", "endpoints"};
  return names->contains(name);
}

bool IsUid(absl::string_view text) {
  if (text.size() != 36) return false;
  for (size_t i = 0; i < text.size(); ++i) {
    const bool dash = i == 8 || i == 13 || i == 18 || i == 23;
    if (dash ? text[i] != '-' : !absl::ascii_isxdigit(static_cast<unsigned char>(text[i]))) {
      return false;
    }
  }
  return true;
}

bool IsTime(absl::string_view text) {
  return text.size() >= 20 && text.size() <= 30 && text[4] == '-' && text[10] == 'T' &&
         kube::ParseTime(text).ok();
}

// Makes the objects of all servers comparable.
class Normaliser {
  static constexpr int64_t kOfOthers = -1;  // Instead of a generation.

 public:
  // Gives the object's uid and its random ids a name. Call it for all objects first.
  void Know(const std::string& key, const kube::Object& object) {
    names_.emplace(object.uid(), absl::StrCat("uid of ", key));
    for (const json::Member& label : object.labels().members()) {
      const absl::string_view id = label.value.AsString();
      if (IsUid(id)) names_.emplace(id, absl::StrCat(label.name(), " of ", key));
    }
  }

  json::Value Normalise(const kube::Object& object) const {
    json::Value root = Walk(object.root(), "", object.generation());
    json::Value metadata = json::Value::Object();
    for (const json::Member& m : root["metadata"].members()) {
      if (!IsDroppedMetadata(m.name())) metadata.Set(m.name(), m.value);
    }
    // The labels of a Job's pods have its uid, so that each one's hash is another.
    if (object.Get({"spec", "resource", "kind"}).AsString() == "Job") {
      json::Value annotations = metadata["annotations"];
      annotations.Erase(api::kPassedTemplateAnnotation);
      metadata.Set("annotations", std::move(annotations));
    }
    root.Set("metadata", std::move(metadata));
    return root;
  }

 private:
  json::Value Walk(const json::Value& value, absl::string_view name, int64_t generation) const {
    if (absl::EndsWith(name, "/passed-template")) return WithoutVersions(value.AsString());
    if (value.is_string()) return Text(value.AsString());
    if (value.is_array()) return Items(value, name, generation);
    if (!value.is_object()) {
      if (!absl::EndsWithIgnoreCase(name, "observedGeneration")) return value;
      if (generation == kOfOthers) return "some";
      return value.AsInt() == generation ? "present" : "old";
    }
    json::Value walked = json::Value::Object();
    for (const json::Member& m : value.members()) {
      // Statuses of objects in members are about generations there.
      const bool others = m.name() == "manifestStatuses" || m.name() == "aggregatedStatus";
      if (IsDropped(m.name()) || (generation == kOfOthers && m.name() == "generation")) continue;
      walked.Set(m.name(), Walk(m.value, m.name(), others ? kOfOthers : generation));
    }
    return walked;
  }

  // Texts of JSON in annotations have times, too.
  static std::string WithoutTimes(absl::string_view text) {
    constexpr size_t kLength = 20;  // Of "2026-01-02T03:04:05Z".
    std::string out;
    while (!text.empty()) {
      const bool is_time = text.size() >= kLength && IsTime(text.substr(0, kLength));
      absl::StrAppend(&out, is_time ? "a time" : text.substr(0, 1));
      text.remove_prefix(is_time ? kLength : 1);
    }
    return out;
  }

  // "generation:version:...:hash:hash" of the annotation that says which template was passed on.
  static json::Value WithoutVersions(absl::string_view text) {
    const std::vector<std::string> parts = absl::StrSplit(text, ':');
    if (parts.size() < 2) return text;
    return absl::StrJoin(parts.end() - 2, parts.end(), ":");
  }

  json::Value Text(absl::string_view text) const {
    if (IsTime(text)) return "a time";
    if (!IsUid(text)) return WithoutTimes(text);
    const auto name = names_.find(text);
    return name == names_.end() ? json::Value("?") : json::Value(name->second);
  }

  json::Value Items(const json::Value& value, absl::string_view name, int64_t generation) const {
    std::vector<json::Value> items;
    for (const json::Value& item : value.items()) items.push_back(Walk(item, "", generation));
    if (IsSet(name)) {
      std::sort(items.begin(), items.end(), [](const json::Value& a, const json::Value& b) {
        return json::Write(a) < json::Write(b);
      });
    }
    return json::Value::OfItems(std::move(items));
  }

  std::map<std::string, std::string, std::less<>> names_;
};

using Objects = std::map<std::string, kube::ObjectPtr>;

void ReadServer(const std::string& cluster, sandbox::Backend& backend, Objects& objects) {
  std::set<std::pair<std::string, std::string>> seen;  // A kind is listed in one version.
  for (const kube::Resource& resource : backend.Resources()) {
    if (IsLeftOut(resource.gvk.kind)) continue;
    if (!seen.emplace(resource.gvk.group, resource.gvk.kind).second) continue;
    const auto listed = backend.List(resource.gvr(), "", kube::LabelSelector());
    if (!listed.ok()) continue;  // A kind whose definition has just gone.
    for (const kube::ObjectPtr& object : *listed) {
      objects[absl::StrCat(cluster, "/", resource.gvk.kind, "/", object->ns(), "/",
                           object->name())] = object;
    }
  }
}

constexpr size_t kLongestText = 160;

std::string Short(const json::Value* value) {
  if (value == nullptr) return "nothing";
  std::string text = json::Write(*value);
  if (text.size() > kLongestText) text = absl::StrCat(text.substr(0, kLongestText), "...");
  return text;
}

bool Has(const json::Value& list, const json::Value& element) {
  return std::find(list.items().begin(), list.items().end(), element) != list.items().end();
}

// Of lists that differ in length: which elements only one of them has.
void CompareElements(const std::string& path, const json::Value& wanted, const json::Value& found,
                     std::vector<std::string>& lines) {
  for (const json::Value& element : wanted.items()) {
    if (Has(found, element)) continue;
    lines.push_back(absl::StrCat(path, ": ", Short(&element), " is missing"));
  }
  for (const json::Value& element : found.items()) {
    if (Has(wanted, element)) continue;
    lines.push_back(absl::StrCat(path, ": ", Short(&element), " should not be there"));
  }
}

void Compare(const std::string& path, const json::Value* wanted, const json::Value* found,
             std::vector<std::string>& lines) {
  if (wanted != nullptr && found != nullptr && *wanted == *found) return;
  if (wanted != nullptr && found != nullptr && wanted->is_array() && found->is_array() &&
      wanted->size() != found->size()) {
    const size_t before = lines.size();
    CompareElements(path, *wanted, *found, lines);
    if (lines.size() > before) return;
  }
  if (wanted == nullptr || found == nullptr || wanted->type() != found->type() ||
      !(wanted->is_object() || (wanted->is_array() && wanted->size() == found->size()))) {
    lines.push_back(absl::StrCat(path, ": ", Short(found), " instead of ", Short(wanted)));
    return;
  }
  for (size_t i = 0; i < wanted->items().size(); ++i) {
    Compare(absl::StrCat(path, "[", i, "]"), &wanted->At(i), &found->At(i), lines);
  }
  std::set<std::string> names;
  for (const json::Member& m : wanted->members()) names.emplace(m.name());
  for (const json::Member& m : found->members()) names.emplace(m.name());
  for (const std::string& name : names) {
    Compare(absl::StrCat(path, ".", name), wanted->Find(name), found->Find(name), lines);
  }
}

}  // namespace

SettledState ReadSettledState(sandbox::Fleet& fleet) {
  Objects objects;
  ReadServer(kHost, fleet.control_plane().backend(), objects);
  for (const std::string& name : fleet.member_names()) {
    ReadServer(name, fleet.member(name)->backend(), objects);
  }
  Normaliser normaliser;
  for (const auto& [key, object] : objects) normaliser.Know(key, *object);
  SettledState state;
  for (const auto& [key, object] : objects) state[key] = normaliser.Normalise(*object);
  return state;
}

std::vector<std::string> Differences(const SettledState& wanted, const SettledState& found) {
  std::vector<std::string> lines;
  for (const auto& [key, object] : wanted) {
    const auto other = found.find(key);
    if (other == found.end()) {
      lines.push_back(absl::StrCat(key, " is missing"));
    } else {
      Compare(key, &object, &other->second, lines);
    }
  }
  for (const auto& [key, object] : found) {
    if (!wanted.contains(key)) lines.push_back(absl::StrCat(key, " should not be there"));
  }
  return lines;
}

}  // namespace prove
