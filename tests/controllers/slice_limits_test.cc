// What happens to the slices of a member that has too many of them.
#include "controllers/slice_collection/slice_limits.h"

#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "controllers/slice_collection/slice_demand.h"
#include "tests/controllers/slice_collection_fixture.h"

namespace {

using api::SliceCollector;
using tests::Eventually;

constexpr SliceCollector kExport = SliceCollector::kServiceExport;
constexpr SliceCollector kService = SliceCollector::kMultiClusterService;

constexpr int kLimit = controllers::kMaxSlicesOfService;

std::string Name(int i) { return absl::StrFormat("web-%04d", i); }

struct Fixture : tests::SliceCollectionFixture {
  SliceCollector collector = GENERATE(kExport, kService);
  const kube::Resource& asking =
      collector == kExport ? api::ServiceExports() : api::MultiClusterServices();

  void Ask(const std::string& name = "web") {
    PutAskingWork(asking, name);
    if (collector == kExport) PutExport(name);
  }
  void Begin() {
    Collect(collector);
    Start();
  }
  // The slice was made in this second.
  static kube::Object SliceOf(int second, const std::string& name) {
    kube::Object slice = Slice(name);
    slice.Set({"metadata", "creationTimestamp"},
              absl::StrFormat("2026-01-01T%02d:%02d:%02dZ", second / 3600, second / 60 % 60,
                              second % 60));
    return slice;
  }
  // Puts slices; those with the lower numbers are the older ones.
  void PutSlices(int first, int end) {
    for (int i = first; i < end; ++i) m1.Put(api::EndpointSlices(), SliceOf(i, Name(i)));
  }
  int Collected() const {
    int count = 0;
    for (const kube::Object& work : server->All(api::Works())) {
      if (api::IsCollectedBy(work, collector) && !work.IsDeleting()) ++count;
    }
    return count;
  }
};

}  // namespace

TEST_CASE_METHOD(Fixture, "of a Service with too many slices the oldest ones are collected") {
  Ask();
  Ask("other");
  PutSlices(0, kLimit + 5);
  PutSlice("other-a", "10.0.0.9", "other");
  // Slices that Karmada has brought there do not count.
  kube::Object brought = SliceOf(0, "brought");
  brought.SetLabel(api::kSliceManagedByLabel, api::kSliceManagedByDispatch);
  m1.Put(api::EndpointSlices(), brought);
  Begin();
  REQUIRE(InTime([&] { return Collected() == kLimit + 1 && !recorded->All().empty(); }));
  CHECK(HasWork("other-a"));
  CHECK(HasWork(Name(kLimit - 1)));
  CHECK_FALSE(HasWork(Name(kLimit)));
  const std::vector<std::string> events = recorded->All();
  REQUIRE(events.size() == 2);  // On what asks for the slices, and on its template.
  CHECK(events[0] ==
        "Warning CollectEndpointSliceFailed Work: cluster m1 has 105 EndpointSlices of Service "
        "shop/web (one for every 64 KiB of a slice), and at most 100 of a Service and cluster are "
        "collected: the oldest ones");
  CHECK(absl::StartsWith(events[1], "Warning CollectEndpointSliceFailed " + asking.gvk.kind));

  SECTION("the others are left alone, and what changes in them is no reason for a write") {
    const size_t before = Writes();
    for (int i = 0; i < 3; ++i) {
      kube::Object changed = SliceOf(kLimit + i, Name(kLimit + i));
      changed.Set({"endpoints"}, json::Value::Array());
      m1.Put(api::EndpointSlices(), changed);
    }
    clock.Advance(absl::Minutes(5));
    CHECK(Stays([&] { return Writes() == before && recorded->All().size() == 2; }));
  }
  SECTION("a collected one that goes makes room for the next one") {
    m1.Erase(api::EndpointSlices(), {"shop", Name(3)});
    CHECK(InTime([&] { return HasWork(Name(kLimit)) && !HasWork(Name(3)); }));
    CHECK_FALSE(HasWork(Name(kLimit + 1)));
  }
  SECTION("the end of it is reported") {
    for (int i = 0; i < 5; ++i) m1.Erase(api::EndpointSlices(), {"shop", Name(i)});
    CHECK(InTime([&] { return Collected() == kLimit + 1 && HasWork(Name(kLimit + 4)); }));
    CHECK(InTime([&] { return recorded->All().size() == 4; }));
    CHECK(recorded->All()[2] ==
          "Normal CollectEndpointSliceSucceed Work: all EndpointSlices of Service shop/web in "
          "cluster m1 are collected again");
  }
  SECTION("a restart chooses the same ones, and does not forget the others") {
    const size_t before = Writes();
    Restart(collector);
    REQUIRE(InTime([&] { return recorded->All().size() == 4; }));
    CHECK(Stays([&] { return Writes() == before; }));
    m1.Erase(api::EndpointSlices(), {"shop", Name(3)});
    CHECK(InTime([&] { return HasWork(Name(kLimit)); }));
  }
}

TEST_CASE_METHOD(Fixture, "a Service with as many slices as are collected is no problem") {
  Ask();
  PutSlices(0, kLimit);
  Begin();
  REQUIRE(InTime([&] { return Collected() == kLimit; }));
  CHECK(recorded->All().empty());
  PutSlices(kLimit, kLimit + 1);
  CHECK(InTime([&] { return !recorded->All().empty(); }));
  CHECK(Collected() == kLimit);
}

TEST_CASE_METHOD(Fixture, "large slices count for several") {
  Ask();
  const auto put = [&](int i, size_t bytes) {
    kube::Object slice = SliceOf(i, Name(i));
    slice.SetAnnotation("padding", std::string(bytes, 'x'));
    m1.Put(api::EndpointSlices(), slice);
  };
  CHECK(controllers::WeightOf(Slice("web-a")) == 1);
  constexpr size_t kWeightTen = 9 * controllers::kBytesOfWeight + 1;
  for (int i = 0; i < 10; ++i) put(i, kWeightTen);
  Begin();
  REQUIRE(InTime([&] { return Collected() == 10; }));
  CHECK(Stays([&] { return recorded->All().empty(); }));
  SECTION("one more is too much") {
    put(10, 0);
    CHECK(InTime([&] { return !recorded->All().empty(); }));
    CHECK_FALSE(HasWork(Name(10)));
  }
  SECTION("an older one that grows takes the place of the newest") {
    put(0, kWeightTen + controllers::kBytesOfWeight);
    CHECK(InTime([&] { return !HasWork(Name(9)) && !recorded->All().empty(); }));
    CHECK(Collected() == 9);
    CHECK(absl::StrContains(recorded->All()[0], "has 101 EndpointSlices"));
    put(0, 0);
    server->Erase(api::Works(), WorkOf(Name(9)).key());
    CHECK(InTime([&] { return Collected() == 10; }));
  }
}

TEST_CASE_METHOD(Fixture, "Works of more slices than are collected are taken away") {
  Ask();
  PutSlices(0, kLimit + 2);
  works::CollectedSlices earlier(cluster);  // Of a program without a limit.
  for (int i = kLimit - 1; i < kLimit + 2; ++i) {
    REQUIRE(earlier.Report("m1", SliceOf(i, Name(i)), collector, {}).ok());
    REQUIRE(Shows(api::Works(), WorkOf(Name(i))));
  }
  Begin();
  CHECK(InTime([&] {
    return Collected() == kLimit && !HasWork(Name(kLimit)) && !HasWork(Name(kLimit + 1));
  }));
}

TEST_CASE_METHOD(tests::SliceCollectionFixture,
                 "of a member with too many slices those of the oldest exports are collected") {
  constexpr int kExports = controllers::kMaxSlicesOfMember / kLimit;
  kube::WorkQueue queue({.name = "slices"}, clock);
  controllers::SliceSources sources(inventory, kExport);
  sources.Attach(queue);
  const auto put_export = [&](int i) {
    kube::Object exported =
        kube::Object::Make(api::ServiceExports().gvk, {"shop", absl::StrFormat("s%03d", i)});
    exported.Set({"metadata", "creationTimestamp"},
                 absl::StrFormat("2026-01-01T00:%02d:%02dZ", i / 60 % 60, i % 60));
    m1.Put(api::ServiceExports(), exported);
    return exported.key();
  };
  const auto put_slices = [&](int of, int count) {
    for (int i = 0; i < count; ++i) {
      PutSlice(absl::StrFormat("s%03d-%03d", of, i), "10.0.0.1", absl::StrFormat("s%03d", of));
    }
  };
  // The first export is a small one, and only what is collected of a Service counts.
  put_slices(0, 1);
  put_slices(1, kLimit + 50);
  for (int i = 2; i < kExports; ++i) put_slices(i, kLimit);
  for (int i = 0; i < kExports; ++i) put_export(i);
  put_slices(500, 200);  // Nobody has exported these.
  inventory.Reads(api::ServiceExports(), {"metadata.creationTimestamp"});
  REQUIRE(sources.Follow("m1").ok());
  REQUIRE(Eventually([&] { return sources.ListedIn("m1").has_value(); }));
  const controllers::SliceSources::Listed listed = *sources.ListedIn("m1");
  controllers::SliceLimits limits(clock);
  const auto chooses = [&](int i) {
    return limits.ChooseService("m1", {"shop", absl::StrFormat("s%03d", i)}, listed) !=
           controllers::SliceLimits::Choice::kNot;
  };
  CHECK(controllers::SliceLimits::OfMember("m1", listed).ok());
  CHECK((chooses(0) && chooses(kExports - 1)));

  put_slices(kExports, kLimit);
  const kube::ObjectKey too_much = put_export(kExports);
  REQUIRE(Eventually([&] {
    return listed.WeightOf(too_much) == kLimit && listed.exports->store().Find(too_much) != nullptr;
  }));
  CHECK(controllers::SliceLimits::OfMember("m1", listed).message() ==
        "cluster m1 exports Services with 10001 EndpointSlices (one for every 64 KiB of a slice), "
        "and "
        "at most 10000 of a cluster are collected: those of the oldest ServiceExports of each "
        "namespace, in turn");
  CHECK((chooses(0) && chooses(kExports - 1)));
  CHECK_FALSE(chooses(kExports));

  // Another namespace gets what it has, whoever came first.
  const kube::ObjectKey late = {"yours", "late"};
  for (int i = 0; i < kLimit; ++i) {
    kube::Object slice = Slice(absl::StrCat("late-", i), "10.0.0.2", late.name);
    slice.Set({"metadata", "namespace"}, late.ns);
    m1.Put(api::EndpointSlices(), slice);
  }
  kube::Object exported = kube::Object::Make(api::ServiceExports().gvk, late);
  exported.Set({"metadata", "creationTimestamp"}, "2026-02-01T00:00:00Z");
  m1.Put(api::ServiceExports(), exported);
  REQUIRE(Eventually([&] {
    return listed.WeightOf(late) == kLimit && listed.exports->store().Find(late) != nullptr;
  }));
  clock.Advance(controllers::SliceLimits::kChoiceLasts);
  CHECK(limits.ChooseService("m1", late, listed) == controllers::SliceLimits::Choice::kAmongMany);
  CHECK((chooses(0) && chooses(kExports - 2)));
  CHECK_FALSE(chooses(kExports - 1));
  sources.LeaveAll();
}
