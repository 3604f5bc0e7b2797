// Sizes that the API server refuses: no shipped customization may exceed them, whatever members
// report.
#include <algorithm>
#include <catch2/catch.hpp>
#include <string>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "interpreter/customized/lua_backend.h"
#include "interpreter/customized/shipped.h"
#include "tests/interpreter/case_files.h"

namespace {

using interpreter::Operation;

// Bytes of the longest message of a condition, and of the longest name of a component.
constexpr size_t kMaxMessage = 32768;
constexpr size_t kMaxComponentName = 32;

// Members report the statuses of a case, with longer messages.
constexpr int kClusters = 60;

void LengthenMessages(json::Value& value, size_t size) {
  if (value.is_array()) {
    for (size_t i = 0; i < value.size(); ++i) LengthenMessages(value.MutableAt(i), size);
  }
  if (!value.is_object()) return;
  if (value["message"].is_string()) value.Set("message", std::string(size, 'x'));
  std::vector<std::string> names;
  for (const json::Member& member : value.members()) names.emplace_back(member.name());
  for (const std::string& name : names) LengthenMessages(value.Mutable(name), size);
}

size_t LongestMessage(const json::Value& value) {
  size_t longest = value["message"].AsString().size();
  for (const json::Value& item : value.items()) longest = std::max(longest, LongestMessage(item));
  for (const json::Member& member : value.members()) {
    longest = std::max(longest, LongestMessage(member.value));
  }
  return longest;
}

// Returns each of the items for many clusters.
json::Value FromManyClusters(const json::Value& items, size_t message) {
  json::Value many;
  for (int i = 0; i < kClusters; ++i) {
    for (json::Value item : items.items()) {
      LengthenMessages(item, message);
      item.Set("clusterName", absl::StrCat(item["clusterName"].AsString(), "-", i));
      many.Append(std::move(item));
    }
  }
  return many;
}

}  // namespace

TEST_CASE("no shipped aggregation makes a message longer than the API server takes") {
  const size_t message = GENERATE(size_t{1000}, kMaxMessage);
  interpreter::customized::LuaBackend shipped({.layer = interpreter::kShippedLayer});
  shipped.Replace(interpreter::customized::LoadShipped(interpreter::customized::ShippedFiles()));
  size_t near_the_bound = 0;
  for (const auto& path : tests::YamlFilesBelow("lua/scripts")) {
    if (!absl::StrContains(path.string(), "aggregatestatus")) continue;
    for (const auto& c : interpreter::customized::ParseCaseFile(tests::ReadFile(path)).cases) {
      INFO(path.string() << ":" << c.line);
      const auto result =
          shipped.AggregateStatus(c.input.object, FromManyClusters(c.input.items, message));
      REQUIRE(result.ok());
      const size_t longest = LongestMessage(result->status());
      CHECK(longest <= kMaxMessage);
      near_the_bound += longest > kMaxMessage / 2;
    }
  }
  CHECK(near_the_bound > 50);
}

TEST_CASE("components of shipped customizations have names a binding takes, each once") {
  const std::string lengthy(kMaxComponentName + 1, 'n');
  const auto [kind, object] = GENERATE_COPY(table<std::string, std::string>({
      {"JobSet", R"({"apiVersion":"jobset.x-k8s.io/v1alpha2","spec":{"replicatedJobs":[N]}})"},
      {"Job", R"({"apiVersion":"batch.volcano.sh/v1alpha1","spec":{"tasks":[N]}})"},
      {"RayCluster",
       R"({"apiVersion":"ray.io/v1","spec":{"headGroupSpec":{"template":{}},"workerGroupSpecs":[N]}})"},
      {"RayJob", R"({"apiVersion":"ray.io/v1","spec":{"rayClusterSpec":{
                     "headGroupSpec":{"template":{}},"workerGroupSpecs":[N]}}})"},
  }));
  interpreter::customized::LuaBackend shipped({.layer = interpreter::kShippedLayer});
  shipped.Replace(interpreter::customized::LoadShipped(interpreter::customized::ShippedFiles()));
  std::string groups;
  for (const absl::string_view name :
       {absl::string_view("a"), absl::string_view(lengthy), absl::string_view("worker-2"),
        absl::string_view("a"), absl::string_view("ray-head"), absl::string_view()}) {
    absl::StrAppend(&groups, groups.empty() ? "" : ",", R"({"name":")", name, R"(","groupName":")",
                    name, "\"}");
  }
  std::string text = object;
  text.replace(text.find('N'), 1, groups);
  kube::Object workload(json::Parse(text).value());
  workload.Set({"kind"}, kind);
  const auto components = shipped.GetComponents(workload);
  INFO(kind << " " << components.status().message());
  REQUIRE(components.ok());
  REQUIRE(components->size() >= 6);
  std::vector<std::string> names;
  for (const json::Value& component : components->items()) {
    names.push_back(component["name"].ToString());
    CHECK(names.back().size() <= kMaxComponentName);
    CHECK_FALSE(names.back().empty());
  }
  std::sort(names.begin(), names.end());
  CHECK(std::adjacent_find(names.begin(), names.end()) == names.end());
}
