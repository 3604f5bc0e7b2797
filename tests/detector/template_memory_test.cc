#include "detector/template_memory.h"

#include <catch2/catch.hpp>

#include "tests/support/recording_events.h"

namespace {

const kube::Gvk kFoo{"example.io", "v1", "Foo"}, kFood{"example.io", "v1", "Food"};

struct Fixture {
  tests::RecordingEvents events;
  detector::TemplateMemory memory{events};

  static kube::Request Of(const kube::Gvk& gvk) { return {.key = {"ns", "one"}, .gvk = gvk}; }
  void Outcome(const kube::Gvk& gvk, const absl::Status& result) {
    memory.outcomes.Outcome({.of = Of(gvk),
                             .part = detector::kApplying,
                             .about = {{.kind = gvk.kind}},
                             .success = {"Succeeded", "it did"},
                             .failure = {"Failed", ""}},
                            result);
  }
  void Remember(const kube::Gvk& gvk) {
    memory.waiting.Add(Of(gvk));
    memory.uncounted.Add(Of(gvk));
    memory.edits.Add(Of(gvk), "7");
    Outcome(gvk, absl::InternalError("no"));
    for (int i = 0; i < kube::Outcomes::kSilentConflicts; ++i) {
      CHECK(absl::IsAborted(Judge(gvk)));
    }
  }
  absl::Status Judge(const kube::Gvk& gvk) {
    return memory.outcomes.Judge(Of(gvk), detector::kApplying, absl::AbortedError("conflict"));
  }
};

TEST_CASE_METHOD(Fixture, "a kind that is not watched any more is forgotten") {
  Remember(kFoo);
  Remember(kFood);
  memory.ForgetKind(kFoo);
  CHECK(memory.waiting.Kinds() == std::vector<kube::Gvk>{kFood});
  CHECK(memory.uncounted.Kinds() == std::vector<kube::Gvk>{kFood});
  CHECK_FALSE(memory.edits.HasSince(Of(kFoo), "6"));
  CHECK(memory.edits.HasSince(Of(kFood), "6"));
  CHECK(absl::IsAborted(Judge(kFoo)));
  CHECK_FALSE(absl::IsAborted(Judge(kFood)));
  Outcome(kFoo, absl::OkStatus());
  Outcome(kFood, absl::OkStatus());
  CHECK(events.All() == std::vector<std::string>{"Warning Failed Foo: no",
                                                 "Warning Failed Food: no",
                                                 "Normal Succeeded Food: it did"});
}

TEST_CASE_METHOD(Fixture, "a template that is gone is forgotten") {
  Remember(kFoo);
  memory.Forget(Of(kFoo));
  CHECK(memory.waiting.Kinds().empty());
  CHECK(memory.uncounted.Kinds().empty());
  CHECK_FALSE(memory.edits.HasSince(Of(kFoo), "6"));
  CHECK(absl::IsAborted(Judge(kFoo)));
  Outcome(kFoo, absl::OkStatus());
  CHECK(events.All().size() == 1);
}

}  // namespace
