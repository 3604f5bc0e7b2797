#include "sandbox/karmada_definitions.h"

#include <catch2/catch.hpp>
#include <filesystem>
#include <map>
#include <set>
#include <string>

#include "absl/strings/str_cat.h"
#include "sandbox/manifests.h"
#include "tests/support/temp_directory.h"

namespace sandbox {
namespace {

using Catch::Contains;
using config::Release;

constexpr char kCrds[] = "config/crds";
constexpr char kNewer[] = "config/crds/v1.19";

std::map<std::string, kube::Object> ByName(const std::vector<kube::Object>& objects) {
  std::map<std::string, kube::Object> out;
  for (const kube::Object& object : objects) out.emplace(object.name(), object);
  return out;
}

std::set<std::string> FilesIn(const std::string& directory) {
  std::set<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(directory)) {
    if (entry.is_regular_file()) names.insert(entry.path().filename());
  }
  return names;
}

// Adds "<path>: <before> -> <after>" for each value that differs, descriptions apart.
void Compare(const json::Value& before, const json::Value& after, const std::string& path,
             std::set<std::string>& out) {
  if (before == after) return;
  if (!before.is_object() || !after.is_object()) {
    out.insert(absl::StrCat(path, ": ", json::Write(before), " -> ", json::Write(after)));
    return;
  }
  std::set<std::string> names;
  for (const json::Value* side : {&before, &after}) {
    for (const json::Member& member : side->members()) names.insert(std::string(member.name()));
  }
  for (const std::string& name : names) {
    const bool is_text = before[name].is_string() || after[name].is_string();
    if (name == "description" && is_text) continue;
    Compare(before[name], after[name], absl::StrCat(path, "/", name), out);
  }
}

// The differences in the schema of the newest version.
std::set<std::string> Differences(const std::string& name) {
  const auto before = ByName(ReadManifests(kCrds).value());
  const auto after = ByName(ReadManifests(kNewer).value());
  const json::Value& versions = before.at(name).spec()["versions"];
  json::Value rest = before.at(name).root(), rest_after = after.at(name).root();
  rest.Erase({"spec", "versions"});
  rest_after.Erase({"spec", "versions"});
  CHECK(rest == rest_after);
  REQUIRE(versions.size() == after.at(name).spec()["versions"].size());
  std::set<std::string> out;
  for (size_t i = 0; i < versions.size(); ++i) {
    Compare(versions.At(i), after.at(name).spec()["versions"].At(i), "", out);
  }
  return out;
}

const std::string kSpec = "/schema/openAPIV3Schema/properties/spec/properties";
const std::string kApplication =
    kSpec + "/failover/properties/application/properties/purgeMode/enum";
const std::string kModes = R"(["Directly","Gracefully","Never"])";

}  // namespace

TEST_CASE("the definitions of v1.19 differ from those of v1.18 in what that release has changed") {
  const std::set<std::string> policy = {absl::StrCat(
      kApplication, R"(: ["Directly","Gracefully","Never","Immediately","Graciously"] -> )",
      kModes)};
  CHECK(Differences("propagationpolicies.policy.karmada.io") == policy);
  CHECK(Differences("clusterpropagationpolicies.policy.karmada.io") == policy);

  for (const char* name :
       {"resourcebindings.work.karmada.io", "clusterresourcebindings.work.karmada.io"}) {
    INFO(name);
    std::set<std::string> components, others;
    for (const std::string& difference : Differences(name)) {
      (difference.find("/components: null -> ") == std::string::npos ? others : components)
          .insert(difference.substr(0, difference.find("\"description\"")));
    }
    CHECK(others ==
          std::set<std::string>{
              *policy.begin(),
              absl::StrCat(kSpec, "/gracefulEvictionTasks/items/properties/purgeMode/enum",
                           R"(: ["Immediately","Directly","Graciously","Gracefully","Never"] -> )",
                           kModes)});
    REQUIRE(components.size() == 2);
    CHECK_THAT(*components.begin(), Contains(kSpec + "/clusters/items/properties/components"));
    CHECK_THAT(
        *components.rbegin(),
        Contains(kSpec + "/requiredBy/items/properties/clusters/items/properties/components"));
  }
}

TEST_CASE("only definitions that differ stand twice") {
  const std::set<std::string> all = FilesIn(kCrds);
  for (const std::string& file : FilesIn(kNewer)) {
    INFO(file);
    CHECK(all.contains(file));
  }
  CHECK(FilesIn(kNewer).size() == ByName(ReadManifests(kNewer).value()).size());
  for (const auto& [name, definition] : ByName(ReadManifests(kNewer).value())) {
    INFO(name);
    CHECK_FALSE(Differences(name).empty());
  }
}

TEST_CASE("the definitions of a release are those of its directory and the others") {
  const auto plain = ReadKarmadaDefinitions(kCrds, std::nullopt);
  const auto older = ReadKarmadaDefinitions(kCrds, Release::kV1_18);
  const auto newer = ReadKarmadaDefinitions(kCrds, Release::kV1_19);
  REQUIRE((plain.ok() && older.ok() && newer.ok()));
  CHECK(plain->release == Release::kV1_18);
  CHECK(older->objects == plain->objects);
  CHECK(newer->release == Release::kV1_19);
  CHECK(newer->objects.size() == older->objects.size());
  CHECK(newer->objects != older->objects);
}

TEST_CASE("definitions of the user's own show their release, and cannot be those of another one") {
  const auto newer = ReadKarmadaDefinitions(kNewer, std::nullopt);
  REQUIRE(newer.ok());
  CHECK(newer->release == Release::kV1_19);
  const auto refused = ReadKarmadaDefinitions(kNewer, Release::kV1_18);
  CHECK(absl::IsInvalidArgument(refused.status()));
  CHECK_THAT(std::string(refused.status().message()),
             Contains("config/crds/v1.19 are those of Karmada v1.19, not of v1.18"));
  // Without ResourceBindings there is nothing to see it by.
  const tests::TempDirectory empty;
  CHECK(ReadKarmadaDefinitions(empty.path(), Release::kV1_19)->release == Release::kV1_19);
  CHECK(ReadKarmadaDefinitions(empty.path(), std::nullopt)->release == Release::kV1_18);
}

}  // namespace sandbox
