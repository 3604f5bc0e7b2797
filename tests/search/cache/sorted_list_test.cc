// Lists in an order that the caller chooses.
#include "search/cache/sorted_list.h"

#include <catch2/catch.hpp>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "base/json.h"

#include "tests/search/cache/members.h"

namespace search {
namespace {

using kube::SortOrder;
using tests::kPods;
using tests::Names;

SortOrder Order(const std::string& text) {
  auto order = SortOrder::Parse(text);
  INFO(text << ": " << order.status());
  REQUIRE(order.ok());
  return *std::move(order);
}

struct Fixture : tests::SearchMembers {
  Fixture() {
    REQUIRE(Cache({"m1", "m2"}));
    Add("m1", "a", "1Gi", "Running");
    Add("m1", "b", "900Mi", "Pending");
    Add("m2", "c", "2", "Running");
    Add("m2", "d", "", "Failed");
  }
  void Add(const std::string& cluster, const std::string& name, const std::string& memory,
           const std::string& phase) {
    kube::Object pod = tests::PodIn("x", name);
    if (!memory.empty()) pod.Set({"spec", "memory"}, memory);
    pod.Set({"status", "phase"}, phase);
    pod.SetLabel("example.com/rank", phase);
    Reach(cluster, kube::ResourceVersionOf(Server(cluster).Put(kPods, pod)));
  }
  std::string Sorted(const std::string& order, ListRequest request = {}) {
    request.gvr = kPods.gvr();
    const auto answer = ListSorted(cache(), request, Order(order));
    return answer.ok() ? Names(*answer) : answer.status().ToString();
  }
};

TEST_CASE("a list is sorted over all clusters, by numbers, quantities and texts") {
  Fixture f;
  CHECK(f.Sorted("metadata.name") == "m1:x/a m1:x/b m2:x/c m2:x/d");
  CHECK(f.Sorted("-metadata.name") == "m2:x/d m2:x/c m1:x/b m1:x/a");
  // Absent values are last in either direction.
  CHECK(f.Sorted("spec.memory") == "m2:x/c m1:x/b m1:x/a m2:x/d");
  CHECK(f.Sorted("-.spec.memory") == "m1:x/a m1:x/b m2:x/c m2:x/d");
  // What is equal stays in the order of clusters and names.
  CHECK(f.Sorted("status.phase") == "m2:x/d m1:x/b m1:x/a m2:x/c");
  CHECK(f.Sorted("{.status.phase},-metadata.name") == "m2:x/d m1:x/b m2:x/c m1:x/a");
  CHECK(f.Sorted("metadata.labels['example\\.com/rank']") == "m2:x/d m1:x/b m1:x/a m2:x/c");
  CHECK(f.Sorted("spec.none") == "m1:x/a m1:x/b m2:x/c m2:x/d");
}

TEST_CASE("sorted pages fit together while objects and clusters come and go") {
  Fixture f;
  const SortOrder order = Order("-metadata.name");
  const auto first = ListSorted(f.cache(), {.gvr = kPods.gvr(), .limit = 2}, order);
  REQUIRE(first.ok());
  CHECK(Names(*first) == "m2:x/d m2:x/c");
  CHECK(first->remaining == 2);
  f.Put("m1", "x", "e");
  f.Erase("m2", "x", "c");
  f.cache().SetScope(tests::SearchMembers::Scope({"m1", "m2", "m3"}));
  f.Server("m3").Put(kPods, tests::PodIn("x", "f"));
  const auto m3 = f.cache().Find("m3", kPods.gvr());
  REQUIRE(tests::Eventually([&] { return m3->HasSynced(); }));
  const ListRequest next{.gvr = kPods.gvr(), .limit = 2, .continue_token = first->continue_token};
  const auto second = ListSorted(f.cache(), next, order);
  REQUIRE(second.ok());
  CHECK(Names(*second) == "m1:x/b m1:x/a");
  CHECK(second->continue_token.empty());
  CHECK(second->version == first->version);

  CHECK(absl::IsInvalidArgument(ListSorted(f.cache(), next, Order("metadata.name")).status()));
  ListRequest other = next;
  other.continue_token = "nonsense";
  CHECK(absl::IsInvalidArgument(ListSorted(f.cache(), other, order).status()));
  f.cache().SetScope(tests::SearchMembers::Scope({"m1", "m3"}));
  CHECK(absl::IsOutOfRange(ListSorted(f.cache(), next, order).status()));
}

TEST_CASE("sorted pages have each object once, in the order of the whole list") {
  Fixture f;
  for (int i = 0; i < 20; ++i) {
    f.Add(i % 3 == 0 ? "m1" : "m2", absl::StrCat("e", i), absl::StrCat(i % 4), "Running");
  }
  const SortOrder order = Order("spec.memory");
  const std::string whole = f.Sorted("spec.memory");
  for (const size_t limit : {1, 3, 7, 100}) {
    CAPTURE(limit);
    std::string joined;
    ListRequest request{.gvr = kPods.gvr(), .limit = limit};
    size_t pages = 0;
    do {
      const auto page = ListSorted(f.cache(), request, order);
      REQUIRE(page.ok());
      CHECK(page->size() <= limit);
      absl::StrAppend(&joined, joined.empty() ? "" : " ", Names(*page));
      CHECK((page->remaining > 0) == !page->continue_token.empty());
      request.continue_token = page->continue_token;
    } while (!request.continue_token.empty() && ++pages < 100);
    CHECK(joined == whole);
  }
}

TEST_CASE("a place that no page has named is refused") {
  Fixture f;
  const auto token = [](int64_t last, int64_t seen, const std::string& version) {
    return absl::WebSafeBase64Escape(json::Write(json::Value::Object(
        {{"rv", version}, {"last", last}, {"seen", seen}, {"sort", "metadata.name"}})));
  };
  const SortOrder order = Order("metadata.name");
  const auto first = ListSorted(f.cache(), {.gvr = kPods.gvr(), .limit = 2}, order);
  REQUIRE(first.ok());
  const auto next = [&](int64_t last, int64_t seen) {
    const auto page = ListSorted(
        f.cache(),
        {.gvr = kPods.gvr(), .limit = 2, .continue_token = token(last, seen, first->version)},
        order);
    return page.ok() ? Names(*page) : absl::StatusCodeToString(page.status().code());
  };
  CHECK(next(1, 2) == "m2:x/c m2:x/d");
  CHECK(next(4, 2) == "INVALID_ARGUMENT");
  CHECK(next(1, 5) == "INVALID_ARGUMENT");
  CHECK(next(-1, 1) == "INVALID_ARGUMENT");
  CHECK(next(1, 0) == "INVALID_ARGUMENT");
  // An invented number of objects does no harm.
  CHECK(next(0, 4) == "m1:x/b m2:x/c");
}

TEST_CASE("what is kept of a sorted list is limited") {
  Fixture f;
  std::vector<std::string> keys;
  const std::string text(SortOrder::kMaxText, 'x');
  for (size_t i = 0; i < SortOrder::kMaxKeys; ++i) keys.push_back(absl::StrCat("status.k", i));
  const size_t enough = kMaxSortBytes / (SortOrder::kMaxKeys * SortOrder::kMaxText);
  for (size_t i = 0; i < enough; ++i) {
    kube::Object pod = tests::PodIn("x", absl::StrCat("n", i));
    for (size_t k = 0; k < keys.size(); ++k) pod.Set({"status", absl::StrCat("k", k)}, text);
    f.Server("m1").Put(kPods, pod);
  }
  const auto m1 = f.cache().Find("m1", kPods.gvr());
  while (m1->size() < enough + 2) {  // A busy machine takes long for so many large objects.
    const size_t before = m1->size();
    REQUIRE(tests::Eventually([&] { return m1->size() > before; }));
  }
  const SortOrder order = Order(absl::StrJoin(keys, ","));
  CHECK(absl::IsInvalidArgument(ListSorted(f.cache(), {.gvr = kPods.gvr()}, order).status()));
  CHECK(ListSorted(f.cache(), {.gvr = kPods.gvr(), .limit = 500}, order)->size() == 500);
}

}  // namespace
}  // namespace search
