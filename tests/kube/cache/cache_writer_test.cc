#include "kube/cache/internal/cache_writer.h"

#include <catch2/catch.hpp>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "tests/support/pods.h"

namespace kube::internal {
namespace {

ObjectPtr PodAt(const std::string& name, int64_t version) {
  Object pod = tests::Pod(name);
  pod.Set({"metadata", "resourceVersion"}, absl::StrCat(version));
  return Share(std::move(pod));
}

// A watch that has reached version 10, and a list beside it that shows version 20.
struct Fixture {
  CacheWriter writer;
  std::vector<std::string> calls;
  CacheWriter::Listing listing;

  Fixture() {
    CacheWriter::Listing first = writer.BeginList();
    first.version = "10";
    writer.ApplyListed(PodAt("a", 5), first);
    writer.EndList(first, {});
    EventHandler handler;
    handler.on_add = [this](const ObjectPtr& o, bool) { calls.push_back("+" + Named(o)); };
    handler.on_update = [this](const ObjectPtr&, const ObjectPtr& o) {
      calls.push_back("=" + Named(o));
    };
    handler.on_delete = [this](const ObjectPtr& o) { calls.push_back("-" + Named(o)); };
    handler.on_progress = [this](int64_t v) { calls.push_back(absl::StrCat("to ", v)); };
    writer.AddHandler(std::move(handler));
    calls.clear();
    listing = writer.BeginList();
    listing.version = "20";
  }
  static std::string Named(const ObjectPtr& object) { return std::string(object->name()); }
  std::string Calls() { return absl::StrJoin(calls, " "); }
  static Progress At(int64_t version) { return {version, base::SteadyTime()}; }
};

TEST_CASE_METHOD(Fixture, "no progress is reported while a list has been applied in part") {
  writer.ApplyListed(PodAt("a", 18), listing);
  writer.Apply(PodAt("b", 12), At(12));
  CHECK(Calls() == "=a +b");
  SECTION("but when the list has ended") {
    writer.ApplyListed(PodAt("b", 12), listing);
    writer.EndList(listing, {});
    CHECK(Calls() == "=a +b to 20");
  }
  SECTION("but when the watch has come as far as a list that failed") {
    writer.Reach(At(19));
    CHECK(Calls() == "=a +b");
    writer.Reach(At(21));
    CHECK(Calls() == "=a +b to 21");
  }
  SECTION("but when another list shows that the server went back") {
    CacheWriter::Listing back = writer.BeginList();
    back.version = "7";
    writer.ApplyListed(PodAt("a", 5), back);
    writer.EndList(back, {});
    CHECK(Calls() == "=a +b =a -b to 7");
  }
  SECTION("and a handler that comes meanwhile is given none") {
    std::vector<int64_t> reached;
    EventHandler late;
    late.on_progress = [&](int64_t version) { reached.push_back(version); };
    writer.AddHandler(std::move(late));
    CHECK(reached.empty());
    writer.Reach(At(20));
    CHECK(reached == std::vector<int64_t>{20});
  }
}

TEST_CASE_METHOD(Fixture, "what came and went before the end of a list does not come again") {
  writer.ApplyListed(PodAt("a", 18), listing);
  writer.EndList(listing, {});
  writer.Apply(PodAt("gone", 14), At(14));
  writer.Delete(PodAt("gone", 16), At(16));
  writer.Apply(PodAt("new", 21), At(21));
  CHECK(Calls() == "=a to 20 to 20 to 20 +new to 21");
}

}  // namespace
}  // namespace kube::internal
