#include "tests/stories/fields.h"

#include <catch2/catch.hpp>

#include "base/yaml.h"
#include "tests/stories/field_owners.h"
#include "tests/stories/story.h"

namespace tests {
namespace {

json::Value Yaml(const std::string& text) {
  const auto value = yaml::Parse(text);
  INFO(text);
  REQUIRE(value.ok());
  return *value;
}

using Strings = std::vector<std::string>;

}  // namespace

TEST_CASE("Mismatches name each field that is not as expected") {
  const json::Value actual = Yaml("{a: {b: 1, c: [x, v]}, e: {}}");
  CHECK(Mismatches(Yaml("{a: {b: 1}, e: {}}"), actual).empty());
  CHECK(Mismatches(Yaml("{a: {b: 2, d: 3}}"), actual) ==
        Strings{"a.b: expected 2, got 1", "a.d: expected 3, got absent"});
  CHECK(Mismatches(Yaml("{a: {c: [x]}}"), actual) ==
        Strings{R"(a.c: expected ["x"], got ["x","v"])"});
  CHECK(Mismatches(Yaml("{a: {c: [x, z]}}"), actual) ==
        Strings{R"(a.c[1]: expected "z", got "v")"});
  CHECK(Mismatches(Yaml("{a: {b: null, d: null}}"), actual) ==
        Strings{"a.b: expected absent, got 1"});
}

TEST_CASE("Conditions are expected by their type") {
  const json::Value actual = Yaml("[{type: A, status: 'False'}, {type: B, status: 'True'}]");
  CHECK(Mismatches(Yaml("[{type: B, status: 'True'}]"), actual, "conditions").empty());
  CHECK(Mismatches(Yaml("[{type: A, status: 'True'}]"), actual, "conditions") ==
        Strings{R"(conditions[A].status: expected "True", got "False")"});
}

TEST_CASE("A field belongs to the member's side that wrote it last") {
  const json::Value made = Yaml("{spec: {replicas: 2, image: a}}");
  const json::Value scaled = Yaml("{spec: {replicas: 5, image: a}}");
  FieldOwners owners;
  owners.MemberWrote(made, scaled);
  SECTION("taking it away is a fight") {
    const auto taken = owners.ControlPlaneWrote(scaled, made, {});
    REQUIRE(taken.size() == 1);
    CHECK(taken[0].path == "spec.replicas");
    CHECK(taken[0].before == 5);
    CHECK(taken[0].after == 2);
  }
  SECTION("what is left to the control plane is none, nor is the change of another field") {
    CHECK(owners.ControlPlaneWrote(scaled, made, {"spec.replicas"}).empty());
    owners.MemberWrote(made, scaled);
    CHECK(owners.ControlPlaneWrote(scaled, made, {"spec"}).empty());
    owners.MemberWrote(made, scaled);
    CHECK(owners.ControlPlaneWrote(scaled, made, {"spec.replica"}).size() == 1);
    CHECK(owners.ControlPlaneWrote(scaled, Yaml("{spec: {replicas: 5, image: b}}"), {}).empty());
  }
}

TEST_CASE("To put back what the member's side has removed is a fight") {
  const json::Value with = Yaml("{metadata: {annotations: {refresh: hard}}, status: {a: 1}}");
  const json::Value without = Yaml("{metadata: {annotations: {}, generation: 2}, status: {a: 2}}");
  FieldOwners owners;
  owners.MemberWrote(with, without);
  const auto taken = owners.ControlPlaneWrote(without, with, {});
  REQUIRE(taken.size() == 2);  // The empty object and the annotation.
  CHECK(taken[1].path == "metadata.annotations.refresh");
  CHECK(taken[1].before.is_null());
}

TEST_CASE("A story with a misspelt field is refused with its file") {
  const auto story = ParseStory("a/B.yaml", R"(
template: {apiVersion: v1, kind: ConfigMap, metadata: {name: one}}
phases: [{name: created, expct: {}}]
)");
  CHECK(story.status().message() == "a/B.yaml: phase created has an unknown field expct");
}

TEST_CASE("A story whose controllers delete in an unknown member is refused") {
  const auto story = ParseStory("a/B.yaml", R"(
template: {apiVersion: v1, kind: ConfigMap, metadata: {name: one}}
phases: [{name: created, deletes: [member2, member3]}]
)");
  CHECK(story.status().message() == "a/B.yaml: phase created deletes in no member: member3");
}

TEST_CASE("A story's steps for one member add to those for all") {
  const auto story = ParseStory("a.b/C-d.yaml", R"(
template: {apiVersion: v1, kind: ConfigMap, metadata: {name: one}, data: {ns: $NS}}
phases:
- name: created
  member: {data: {a: b}, status: {c: 1}}
  member2: {status: {d: 2}}
  meanwhile: [Unknown]
  expect: {health: {member1: Healthy}}
)");
  REQUIRE(story.ok());
  CHECK(story->id == "a-b-c-d");
  CHECK(story->subject().root() == Yaml("{apiVersion: v1, kind: ConfigMap, data: {ns: a-b-c-d}, "
                                        "metadata: {name: one, namespace: a-b-c-d}}"));
  const Phase& phase = story->phases.at(0);
  CHECK(phase.member.at("member1") == Yaml("{data: {a: b}, status: {c: 1}}"));
  CHECK(phase.member.at("member2") == Yaml("{data: {a: b}, status: {d: 2}}"));
  CHECK(phase.health == std::map<std::string, std::string>{{"member1", "Healthy"}});
  CHECK(story->MayBe("Unknown"));
  CHECK_FALSE(story->MayBe("Unhealthy"));
}

}  // namespace tests
