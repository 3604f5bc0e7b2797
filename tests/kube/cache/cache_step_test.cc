#include "kube/cache/internal/cache_step.h"

#include <catch2/catch.hpp>
#include <string>

#include "absl/strings/substitute.h"

namespace {

using kube::internal::OrderedObjects;
using kube::internal::PendingChanges;
using kube::internal::StepEvents;

kube::ObjectPtr Pod(const std::string& uid, const std::string& version) {
  const std::string text = absl::Substitute(
      R"({"apiVersion":"v1","kind":"Pod","metadata":{"namespace":"n","name":"a","uid":"$0",)"
      R"("resourceVersion":"$1"}})",
      uid, version);
  return kube::Share(kube::Object(json::Parse(text).value()));
}

TEST_CASE("Of objects that had a name one after the other the one that was reported is deleted") {
  OrderedObjects objects;
  objects.Put(Pod("first", "10"));
  const PendingChanges pending = {{{"n", "a"}, {.last = Pod("second", "14"), .deleted = true}}};
  const auto events = StepEvents(objects, pending, {.from = 12, .to = 15});
  REQUIRE(events.size() == 1);
  CHECK(events[0].after == nullptr);
  CHECK(events[0].before->uid() == "first");
}

TEST_CASE("The last state of a deleted object is that of its deletion") {
  OrderedObjects objects;
  objects.Put(Pod("first", "10"));
  const PendingChanges pending = {{{"n", "a"}, {.last = Pod("first", "15"), .deleted = true}}};
  const auto events = StepEvents(objects, pending, {.from = 12, .to = 15});
  REQUIRE(events.size() == 1);
  CHECK(events[0].before->resource_version() == "15");
  CHECK(events[0].version == 15);
}

}  // namespace
