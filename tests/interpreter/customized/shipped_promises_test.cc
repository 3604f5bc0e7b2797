// What lua/scripts/README.md promises of every shipped customization, tried on all their cases.
#include <catch2/catch.hpp>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "interpreter/customized/lua_backend.h"
#include "interpreter/customized/shipped.h"
#include "tests/interpreter/case_files.h"

namespace {

using interpreter::Operation;
using interpreter::Question;
using interpreter::customized::Case;
using interpreter::customized::LoadShipped;
using interpreter::customized::LuaBackend;
using interpreter::customized::RunOperation;
using interpreter::customized::ShippedFile;
using interpreter::customized::ShippedFiles;

struct LocatedCase {
  std::string place;  // "path:line"
  Case value;
};

// Returns all cases beside the shipped customizations.
const std::vector<LocatedCase>& AllCases() {
  static const auto& all = *[] {
    auto* found = new std::vector<LocatedCase>;
    for (const auto& path : tests::YamlFilesBelow("lua/scripts")) {
      if (path.filename() == "customizations.yaml") continue;
      for (const Case& c : interpreter::customized::ParseCaseFile(tests::ReadFile(path)).cases) {
        found->push_back({absl::StrCat(path.string(), ":", c.line), c});
      }
    }
    return found;
  }();
  return all;
}

const LuaBackend& Shipped() {
  static const auto& shipped = *[] {
    auto* backend = new LuaBackend({.layer = interpreter::kShippedLayer});
    backend->Replace(LoadShipped(ShippedFiles()));
    return backend;
  }();
  return shipped;
}

// Calls `visit` for each member below `part`, which is at the end of `way`, with the whole without
// it.
void WithoutEachMember(const json::Value& whole, const json::Value& part,
                       std::vector<std::function<json::Value&(json::Value&)>>& way,
                       const std::function<void(json::Value)>& visit) {
  const auto at = [&](json::Value& value) -> json::Value& {
    json::Value* here = &value;
    for (const auto& step : way) here = &step(*here);
    return *here;
  };
  for (const json::Member& member : part.members()) {
    const std::string name(member.name());
    json::Value changed = whole;
    at(changed).Erase(name);
    visit(std::move(changed));
    way.push_back([name](json::Value& value) -> json::Value& { return value.Mutable(name); });
    WithoutEachMember(whole, member.value, way, visit);
    way.pop_back();
  }
  for (size_t i = 0; i < part.size() && part.is_array(); ++i) {
    way.push_back([i](json::Value& value) -> json::Value& { return value.MutableAt(i); });
    WithoutEachMember(whole, part.At(i), way, visit);
    way.pop_back();
  }
}

// Calls `visit` for each member at any depth, with the value without it.
void EachWithoutAMember(const json::Value& value, const std::function<void(json::Value)>& visit) {
  std::vector<std::function<json::Value&(json::Value&)>> way;
  WithoutEachMember(value, value, way, visit);
}

// Returns whether the object has what every object has.
bool IsAnObject(const json::Value& object) {
  return !object["apiVersion"].AsString().empty() && !object["kind"].AsString().empty() &&
         object["metadata"].is_object();
}

// Returns whether the object itself names this version of an API.
bool Names(const kube::Object& object, const std::string& api_version) {
  return absl::StrContains(json::Write(object.root()), absl::StrCat("\"", api_version, "\""));
}

}  // namespace

TEST_CASE("every shipped customization says who else writes the objects, or that nobody does") {
  for (const ShippedFile& file : ShippedFiles()) {
    INFO(file.path);
    const std::string text = tests::ReadFile(absl::StrCat("lua/scripts/", file.path));
    std::string head;
    for (const absl::string_view line : absl::StrSplit(text, '\n')) {
      if (!absl::StartsWith(line, "#")) break;
      absl::StrAppend(&head, line.substr(1), " ");
    }
    CHECK((absl::StrContains(head, "thers write") || absl::StrContains(head, "obody else writes")));
  }
}

TEST_CASE("every shipped kind has a life story") {
  for (const ShippedFile& file : ShippedFiles()) {
    const std::vector<std::string> parts = absl::StrSplit(file.path, '/');
    size_t stories = 0;
    for (const auto& path : tests::YamlFilesBelow("tests/stories/" + parts[0])) {
      const std::string name = path.stem().string();
      stories += name == parts[2] || absl::StartsWith(name, parts[2] + "-");
    }
    INFO(file.path);
    CHECK(stories > 0);
  }
}

TEST_CASE("every shipped health rule says why an object is not healthy") {
  size_t unhealthy = 0;
  for (const LocatedCase& c : AllCases()) {
    if (c.value.input.operation != Operation::kInterpretHealth) continue;
    INFO(c.place);
    const auto health = Shipped().InterpretHealth(kube::Object(c.value.input.observed));
    if (!health.ok() || health->healthy) continue;
    ++unhealthy;
    CHECK(!health->message.empty());
  }
  CHECK(unhealthy > 100);
}

TEST_CASE("a shipped rule does not fail because something is missing") {
  size_t run = 0;
  for (const LocatedCase& c : AllCases()) {
    if (!RunOperation(c.value.input, Shipped()).ok()) continue;
    const auto check = [&](const Question& input, const json::Value& changed) {
      ++run;
      const auto result = RunOperation(input, Shipped());
      if (result.ok()) return;
      FAIL_CHECK(c.place << ": " << result.status().message() << "\nwith " << json::Write(changed));
    };
    for (kube::Object Question::*const object : {&Question::object, &Question::observed}) {
      EachWithoutAMember((c.value.input.*object).root(), [&](json::Value changed) {
        if (!IsAnObject(changed)) return;
        Question input = c.value.input;
        input.*object = kube::Object(changed);
        check(input, changed);
      });
    }
    EachWithoutAMember(c.value.input.items, [&](json::Value changed) {
      Question input = c.value.input;
      input.items = changed;
      check(input, changed);
    });
  }
  CHECK(run > 10000);
}

TEST_CASE("a status that is aggregated again stays as it is") {
  size_t run = 0;
  for (const LocatedCase& c : AllCases()) {
    if (c.value.input.operation != Operation::kAggregateStatus) continue;
    INFO(c.place);
    const json::Value& items = c.value.input.items;
    const auto once = Shipped().AggregateStatus(kube::Object(c.value.input.object), items);
    if (!once.ok()) continue;
    const auto twice = Shipped().AggregateStatus(*once, items);
    REQUIRE(twice.ok());
    CHECK(json::Write(twice->root()) == json::Write(once->root()));
    ++run;
  }
  CHECK(run > 100);
}

TEST_CASE("a dependency on a shipped kind names a version that is shipped") {
  std::map<std::pair<std::string, std::string>, std::set<std::string>> versions;
  for (const ShippedFile& file : ShippedFiles()) {
    const std::vector<std::string> parts = absl::StrSplit(file.path, '/');
    versions[{parts[0], parts[2]}].insert(parts[1]);
  }
  for (const LocatedCase& c : AllCases()) {
    if (c.value.input.operation != Operation::kInterpretDependency) continue;
    const auto dependencies = Shipped().GetDependencies(kube::Object(c.value.input.object));
    if (!dependencies.ok()) continue;
    for (const json::Value& reference : dependencies->items()) {
      const std::vector<std::string> api = absl::StrSplit(reference["apiVersion"].AsString(), '/');
      if (api.size() != 2 || Names(c.value.input.object, absl::StrJoin(api, "/"))) continue;
      const auto found = versions.find({api[0], std::string(reference["kind"].AsString())});
      INFO(c.place << ": " << json::Write(reference));
      CHECK((found == versions.end() || found->second.count(api[1]) == 1));
    }
  }
}
