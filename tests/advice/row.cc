#include "tests/advice/row.h"

#include <algorithm>
#include <filesystem>
#include <regex>
#include <set>

#include <catch2/catch.hpp>

#include "absl/strings/match.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "base/files.h"
#include "base/yaml.h"
#include "kube/meta/patch.h"

namespace tests::advice {
namespace {

constexpr char kDirectory[] = "tests/data/advice";
constexpr size_t kLong = 200;  // Characters of $LONG.
constexpr char kBase[] = "tests/data/advice/base.yaml";

// The definition of the kind Widget, in a group that only the row has.
constexpr char kWidgets[] =
    "{apiVersion: apiextensions.k8s.io/v1, kind: CustomResourceDefinition, "
    "metadata: {name: widgets.$NS.example.io}, spec: {group: $NS.example.io, scope: Namespaced, "
    "names: {kind: Widget, listKind: WidgetList, plural: widgets, singular: widget}, "
    "versions: [{name: v1, served: true, storage: true, schema: {openAPIV3Schema: "
    "{type: object, x-kubernetes-preserve-unknown-fields: true}}}]}}";

std::string PutIn(const std::string& text, const Place& place) {
  const std::string full = absl::StrReplaceAll(text, {{"$WIDGETS", kWidgets}});
  const std::string with_hooks =
      place.hooks == nullptr ? full
                             : absl::StrReplaceAll(full, {{"$HOOK", place.hooks->url()},
                                                          {"$CA", place.hooks->ca()},
                                                          {"$OTHERCA", place.hooks->other_ca()}});
  return absl::StrReplaceAll(with_hooks, {{"$NS", place.ns},
                                          {"$OWN", place.own},
                                          {"$LONG45", std::string(45, 'l')},
                                          {"$LONG", std::string(kLong, 'l')},
                                          {"$IN", place.own.empty() ? "member1" : place.own}});
}

std::vector<json::Value> Parse(const std::string& text, const std::string& whence) {
  auto documents = yaml::ParseAll(text);
  INFO(whence << ": " << documents.status() << "\n" << text);
  REQUIRE(documents.ok());
  return *documents;
}

bool HasNoNamespace(const kube::Object& object) {
  static const auto& kinds = *new std::set<std::string>{"Namespace",
                                                        "CustomResourceDefinition",
                                                        "PersistentVolume",
                                                        "ResourceInterpreterCustomization",
                                                        "ResourceInterpreterWebhookConfiguration",
                                                        "WorkloadRebalancer"};
  return absl::StartsWith(object.kind(), "Cluster") || kinds.count(std::string(object.kind())) > 0;
}

}  // namespace

bool IsText(const std::string& text, const std::string& expected) {
  static const auto& time = *new std::regex(R"(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z)");
  const std::string without_times = std::regex_replace(text, time, "$$TIME");
  absl::string_view left = without_times;
  const std::vector<std::string> parts = absl::StrSplit(expected, "$ANY");
  if (!absl::ConsumePrefix(&left, parts.front())) return false;
  for (size_t i = 1; i < parts.size(); ++i) {
    const bool is_last = i + 1 == parts.size();
    const size_t at = is_last ? left.rfind(parts[i]) : left.find(parts[i]);
    if (at == absl::string_view::npos) return false;
    left.remove_prefix(at + parts[i].size());
  }
  return left.empty();
}

bool Row::is_for_real_servers() const {
  if (has_own_member() || document["plane"].Has("quotas") || document["plane"].Has("alone")) {
    return false;
  }
  for (const char* steps : {"first", "then", "follow"}) {
    for (const json::Value& step : document[steps].items()) {
      if (step.Has("server") || step.Has("token") || step.Has("daemon")) return false;
    }
  }
  return document["sandbox"].is_null();
}

bool Row::is_for_sandbox() const { return document["real"].is_null(); }

std::vector<Row> ReadRows() {
  std::vector<std::string> files;
  for (const auto& entry : std::filesystem::directory_iterator(kDirectory)) {
    const std::string path = entry.path().string();
    if (absl::EndsWith(path, ".yaml") && path != kBase) files.push_back(path);
  }
  std::sort(files.begin(), files.end());
  std::vector<Row> rows;
  std::set<std::string> names;
  for (const std::string& file : files) {
    const std::string all = base::ReadFile(file).value();
    for (const absl::string_view text : absl::StrSplit(all, "\n---\n")) {
      const std::vector<json::Value> documents = Parse(std::string(text), file);
      REQUIRE(documents.size() == 1);
      rows.push_back({file, std::string(text), documents[0]});
      INFO(file << ": " << rows.back().name());
      REQUIRE(names.insert(rows.back().name()).second);
    }
  }
  return rows;
}

json::Value Placed(const Row& row, const Place& place) {
  return Parse(PutIn(row.text, place), row.file)[0];
}

std::vector<kube::Object> InNamespace(const json::Value& list, const std::string& ns) {
  std::vector<kube::Object> objects;
  for (const json::Value& item : list.items()) {
    kube::Object object(item);
    if (object.ns().empty() && !HasNoNamespace(object)) object.Set({"metadata", "namespace"}, ns);
    objects.push_back(std::move(object));
  }
  return objects;
}

std::vector<kube::Object> ObjectsOf(const json::Value& document, const Place& place) {
  std::vector<kube::Object> objects;
  for (const json::Value& base : Parse(PutIn(base::ReadFile(kBase).value(), place), kBase)) {
    kube::Object object(base);
    const json::Value* patch =
        document["base"].Find(absl::StrCat(object.kind(), " ", object.name()));
    if (patch != nullptr && patch->is_null()) continue;
    if (patch != nullptr) object = kube::Object(kube::ApplyMergePatch(base, *patch));
    objects.push_back(std::move(object));
  }
  for (kube::Object& object : InNamespace(document["objects"], place.ns)) {
    objects.push_back(std::move(object));
  }
  return objects;
}

}  // namespace tests::advice
