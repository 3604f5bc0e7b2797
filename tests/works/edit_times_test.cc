#include "works/edit_times.h"

#include <catch2/catch.hpp>
#include <string>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "api/keys.h"
#include "tests/support/members_fixture.h"

namespace {

using tests::Parse;

// A Deployment that is to be in m1 and m2.
struct Fixture : tests::MembersFixture {
  works::EditTimes times{cluster, clock, registry};

  Fixture() {
    Sync({api::ResourceBindings()});
    PutBinding(R"([{"name": "m1"}, {"name": "m2"}])");
  }
  void PutBinding(const char* clusters) {
    kube::Object binding = Parse(R"({"apiVersion": "work.karmada.io/v1alpha2",
        "kind": "ResourceBinding", "metadata": {"name": "web-deployment", "namespace": "ns"},
        "spec": {}})");
    binding.Set({"spec", "clusters"}, tests::Json(clusters));
    PutCached(api::ResourceBindings(), binding);
  }
  static kube::Object Template(int generation, const std::string& name = "web") {
    kube::Object object = kube::Object::Make(tests::kDeployments.gvk, {"ns", name});
    object.Set({"metadata", "generation"}, generation);
    return object;
  }
  static kube::Object Manifest(int generation) {
    kube::Object object = Template(generation);
    object.SetAnnotation(api::kTemplateGenerationAnnotation, absl::StrCat(generation));
    return object;
  }
  bool Shows(const std::string& line) { return absl::StrContains(registry.Expose(), line); }
  bool HasTimed(int edits) {
    return Shows(
        absl::StrCat("karmada_edit_to_applied_seconds_count{kind=\"Deployment\"} ", edits, "\n"));
  }
  bool HasLeft(const char* reason, int edits) {
    return Shows(absl::StrCat("karmada_edits_not_timed_total{kind=\"Deployment\",reason=\"", reason,
                              "\"} ", edits, "\n"));
  }
};

TEST_CASE_METHOD(Fixture, "an edit takes as long as it takes to the last of its clusters") {
  times.Seen(Template(2));
  clock.Advance(absl::Milliseconds(30));
  times.Arrived("m1", Manifest(2));
  CHECK_FALSE(HasTimed(1));
  clock.Advance(absl::Seconds(3));
  times.Arrived("m2", Manifest(2));
  CHECK(HasTimed(1));
  CHECK(Shows("karmada_edit_to_applied_seconds_sum{kind=\"Deployment\"} 3.03\n"));
  CHECK(times.IsIdle());
}

TEST_CASE_METHOD(Fixture, "an older state that arrives late does not count for the edit") {
  times.Seen(Template(2));
  times.Arrived("m1", Manifest(1));
  times.Arrived("m2", Manifest(1));
  CHECK_FALSE(HasTimed(1));
  times.Arrived("m1", Manifest(2));
  times.Arrived("m1", Manifest(2));
  CHECK_FALSE(HasTimed(1));
  times.Arrived("m2", Manifest(2));
  CHECK(HasTimed(1));
}

TEST_CASE_METHOD(Fixture, "an edit that is seen twice began when it was seen first") {
  times.Seen(Template(2));
  clock.Advance(absl::Seconds(1));
  times.Seen(Template(2));
  times.Arrived("m1", Manifest(2));
  times.Arrived("m2", Manifest(2));
  CHECK(Shows("karmada_edit_to_applied_seconds_sum{kind=\"Deployment\"} 1\n"));
  CHECK_FALSE(Shows("karmada_edits_not_timed_total"));
}

TEST_CASE_METHOD(Fixture, "a cluster that is not written to is not waited for") {
  times.Seen(Template(2));
  clock.Advance(absl::Seconds(1));
  times.Arrived("m1", Manifest(2));
  clock.Advance(absl::Minutes(5));
  times.Excused("m2", Manifest(2));
  CHECK(Shows("karmada_edit_to_applied_seconds_sum{kind=\"Deployment\"} 1\n"));
}

TEST_CASE_METHOD(Fixture, "a cluster that joins the targets meanwhile is waited for") {
  times.Seen(Template(2));
  times.Arrived("m1", Manifest(2));
  PutBinding(R"([{"name": "m1"}, {"name": "m2"}, {"name": "m3"}])");
  times.Arrived("m2", Manifest(2));
  CHECK_FALSE(HasTimed(1));
  times.Arrived("m3", Manifest(2));
  CHECK(HasTimed(1));
}

TEST_CASE_METHOD(Fixture, "what is no latency is counted by its reason instead") {
  SECTION("no cluster is written to") {
    times.Seen(Template(2));
    times.Excused("m1", Manifest(2));
    times.Excused("m2", Manifest(2));
    CHECK(HasLeft("no_cluster", 1));
  }
  SECTION("the template is edited again") {
    times.Seen(Template(2));
    times.Seen(Template(3));
    CHECK(HasLeft("superseded", 1));
    times.Arrived("m1", Manifest(3));
    times.Arrived("m2", Manifest(3));
    CHECK(HasTimed(1));
    return;
  }
  SECTION("the template stays where it is") {
    times.Seen(Template(2));
    times.NotPropagated(tests::kDeployments.gvk, {"ns", "web"});
    CHECK(HasLeft("not_propagated", 1));
    times.Arrived("m1", Manifest(2));
    times.Arrived("m2", Manifest(2));
  }
  SECTION("it takes longer than a latency may") {
    times.Seen(Template(2));
    clock.Advance(works::EditTimes::kLongest + absl::Seconds(1));
    times.Seen(Template(2, "other"));
    CHECK(HasLeft("late", 1));
    times.Arrived("m1", Manifest(2));
    times.Arrived("m2", Manifest(2));
  }
  CHECK_FALSE(HasTimed(1));
}

TEST_CASE_METHOD(Fixture, "of edits beyond the bound none is timed, and those before it all are") {
  times.Seen(Template(2));
  for (size_t i = 1; i < works::EditTimes::kMostEdits + 5; ++i) {
    times.Seen(Template(2, absl::StrCat("other-", i)));
  }
  CHECK(HasLeft("too_many", 5));
  times.Arrived("m1", Manifest(2));
  times.Arrived("m2", Manifest(2));
  CHECK(HasTimed(1));
}

TEST_CASE_METHOD(Fixture, "the end of a template ends its edit without a count") {
  times.Seen(Template(2));
  times.Forget(tests::kDeployments.gvk, {"ns", "web"});
  CHECK(times.IsIdle());
  CHECK_FALSE(Shows("karmada_edit"));
}

}  // namespace
