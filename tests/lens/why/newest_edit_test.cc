#include "lens/why/newest_edit.h"

#include <catch2/catch.hpp>
#include <string>
#include <utility>
#include <vector>

#include "api/keys.h"
#include "base/yaml.h"
#include "lens/why/diagnosis.h"
#include "lens/why/report.h"
#include "tests/lens/why/situations.h"

namespace {

using lens::why::NewestEditOf;

json::Value Yaml(const std::string& text) { return yaml::ParseAll(text).value().at(0); }

// The Deployment of the situations, of generation 3, which was edited at 11:59:00; it is 12:00:00.
struct Fixture {
  lens::why::Chain chain = tests::ChainOf({"", Yaml("{name: edited, patch: {Deployment shop/web: "
                                                    "{metadata: {generation: 3}}}}")});
  Fixture() {
    Edit("2026-01-01T11:59:00Z");
    Have("member1", 3, "2026-01-01T11:59:01Z");
    Have("member2", 3, "2026-01-01T11:59:42Z");
  }
  void Edit(const std::string& time) {
    SetOwners(
        Yaml("[{manager: karmada-controller-manager, time: '2026-01-01T11:59:59Z', "
             "fieldsV1: {f:metadata: {f:labels: {}}}}, "
             "{manager: kube-controller-manager, time: '2026-01-01T11:59:58Z', "
             "subresource: status, fieldsV1: {f:status: {}}}, "
             "{manager: kubectl, time: '" +
             time + "', fieldsV1: {f:metadata: {}, f:spec: {}}}]"));
  }
  void SetOwners(json::Value owners) {
    kube::Object object = *chain.object;
    object.Set({"metadata", "managedFields"}, std::move(owners));
    chain.object = kube::Share(std::move(object));
  }
  // `written`: when Karmada last wrote it; "" if nothing says so.
  void Have(const std::string& cluster, int generation, const std::string& written) {
    kube::Object object = kube::Object::Make(chain.asked.gvk, chain.asked.key);
    object.SetAnnotation(api::kTemplateGenerationAnnotation, std::to_string(generation));
    if (!written.empty()) {
      object.Set({"metadata", "managedFields"},
                 Yaml("[{manager: karmada-controller-manager, time: '" + written +
                      "', fieldsV1: {f:spec: {}}}, {manager: hpa, time: '2026-01-01T11:59:55Z'}]"));
    }
    chain.members[cluster] = {absl::OkStatus(), kube::Share(std::move(object))};
  }
  std::string Text() {
    const auto edit = NewestEditOf(chain);
    return edit.has_value() ? TextOf(*edit, chain.now) : "";
  }
  std::vector<std::string> Lines() { return LinesOf(NewestEditOf(chain).value(), chain.now); }
};

TEST_CASE_METHOD(Fixture, "Lens: of a recent edit the cluster is named that had it last") {
  CHECK(Text() ==
        "newest edit: generation 3 at 2026-01-01T11:59:00Z; the last cluster was member2, at most "
        "42 s later");
  CHECK(Lines() == std::vector<std::string>{"member2 had it by 2026-01-01T11:59:42Z, 42 s later",
                                            "member1 had it by 2026-01-01T11:59:01Z, 1 s later"});
}

TEST_CASE_METHOD(Fixture, "Lens: a cluster that does not have the newest edit is the slowest one") {
  Have("member1", 2, "2026-01-01T11:30:00Z");
  CHECK(Text() ==
        "newest edit: generation 3 at 2026-01-01T11:59:00Z; after 60 s it is not in member1");
  CHECK(Lines()[0] == "member1 has generation 2");
  chain.members["member2"].object = nullptr;
  CHECK(Lines()[0] == "member2 does not have it");
}

TEST_CASE_METHOD(Fixture, "Lens: nothing is said of an edit whose times nobody knows") {
  SECTION("the template does not say when it was edited") {
    SetOwners(json::Value());
    CHECK(Text().empty());
  }
  SECTION("the newest entry may be one that does not say when it was") {
    SetOwners(
        Yaml("[{manager: kubectl, operation: Update, subresource: scale, "
             "fieldsV1: {f:spec: {f:replicas: {}}}}, "
             "{manager: kubectl, time: '2026-01-01T11:59:00Z', fieldsV1: {f:spec: {}}}]"));
    CHECK(Text().empty());
  }
  SECTION("the edit waits for the scheduler, so that the generation in clusters says nothing") {
    kube::Object binding = *chain.binding;
    binding.Set({"metadata", "generation"}, binding.generation() + 1);
    chain.binding = kube::Share(std::move(binding));
    CHECK(Text().empty());
  }
  SECTION("no member answers") {
    for (auto& [name, answer] : chain.members) answer.status = absl::UnavailableError("away");
    CHECK(Text().empty());
  }
  SECTION("the members do not say when they were written") {
    Have("member1", 3, "");
    Have("member2", 3, "");
    CHECK(Text() == "newest edit: generation 3 at 2026-01-01T11:59:00Z");
    CHECK(Lines()[0] == "member1 has it, nothing says since when");
  }
  SECTION("it was long ago, and has arrived") {
    Edit("2026-01-01T10:00:00Z");
    CHECK(Text().empty());
  }
}

TEST_CASE_METHOD(Fixture, "Lens: an edit of long ago that has not arrived is told") {
  Edit("2026-01-01T10:00:00Z");
  Have("member2", 1, "2025-12-31T10:00:00Z");
  CHECK(Text() ==
        "newest edit: generation 3 at 2026-01-01T10:00:00Z; after 7200 s it is not in member2");
}

TEST_CASE_METHOD(Fixture, "Lens: the newest edit is part of the way, and of the JSON") {
  const lens::why::Diagnosis diagnosis = lens::why::Diagnose(chain);
  std::string shown;
  for (const lens::why::Node& node : lens::why::WayOf(chain, diagnosis).children) {
    shown += node.text + "\n";
  }
  CHECK(shown.find(Text() + "\n") != std::string::npos);
  const json::Value report = lens::why::ReportAsJson(chain, diagnosis);
  const json::Value& edit = report["newestEdit"];
  CHECK(edit["slowest"].AsString() == "member2");
  REQUIRE(edit["clusters"].size() == 2);
  CHECK(
      json::Write(edit["clusters"].At(0)) ==
      R"({"by":"2026-01-01T11:59:42Z","generation":3,"hasIt":true,"name":"member2","secondsLater":42})");
  SetOwners(json::Value());
  CHECK(lens::why::ReportAsJson(chain, diagnosis)["newestEdit"].is_null());
}

}  // namespace
