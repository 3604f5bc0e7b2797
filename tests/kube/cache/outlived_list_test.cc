// A kind with so many objects that its list outlives the API server's continue token.
#include <catch2/catch.hpp>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/synchronization/mutex.h"
#include "base/status.h"
#include "kube/cache/informer.h"
#include "kube/client/api_error.h"
#include "tests/support/eventually.h"
#include "tests/support/fake_clock.h"

namespace kube {
namespace {

const Resource kConfigMaps{{"", "v1", "ConfigMap"}, "configmaps", true};

std::string Item(const std::string& name, int version) {
  return absl::StrCat(
      R"({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"namespace": "ns",)",
      R"( "name": ")", name, R"(", "uid": ")", name, R"(", "resourceVersion": ")", version,
      R"("}})");
}

std::string Page(int version, const std::vector<std::string>& items, const std::string& token) {
  return absl::StrCat(R"({"metadata": {"resourceVersion": ")", version, R"(", "continue": ")",
                      token, R"("}, "items": [)", absl::StrJoin(items, ","), "]}");
}

std::string Event(const char* type, const std::string& object) {
  return absl::StrCat(R"({"type": ")", type, R"(", "object": )", object, "}\n");
}

// A server whose pages take two minutes each, by their tokens. When the token has expired it says
// with which the rest can be read, unless `rest` is empty.
class SlowServer : public Transport {
 public:
  SlowServer(tests::FakeClock& clock, std::string rest) : clock_(clock), rest_(std::move(rest)) {}

  void Answer(const std::string& token, std::string page) {
    absl::MutexLock lock(&mu_);
    pages_[token] = std::move(page);
  }
  // What watches have to report, from the first one on.
  void Report(std::string events) {
    absl::MutexLock lock(&mu_);
    events_ = std::move(events);
  }
  std::vector<std::string> watched_from() {
    absl::MutexLock lock(&mu_);
    return watched_from_;
  }
  int lists() {
    absl::MutexLock lock(&mu_);
    return lists_;
  }

  absl::StatusOr<HttpResponse> Send(const HttpRequest& request, const base::StopToken&) override {
    clock_.Advance(absl::Minutes(2));
    absl::MutexLock lock(&mu_);
    const std::string token = Parameter(request.path, "continue");
    if (token.empty()) ++lists_;
    const auto page = pages_.find(token);
    if (page != pages_.end()) return HttpResponse{200, {}, page->second};
    return HttpResponse{
        410,
        {},
        absl::StrCat(R"({"kind": "Status", "code": 410, "reason": "Expired",)",
                     R"( "message": "too old", "metadata": {"continue": ")", rest_, R"("}})")};
  }
  std::unique_ptr<HttpStream> Open(const HttpRequest& request, StreamCallbacks callbacks) override {
    std::string events;
    {
      absl::MutexLock lock(&mu_);
      watched_from_.push_back(Parameter(request.path, "resourceVersion"));
      events = std::exchange(events_, "");
    }
    callbacks.on_head({200, {}, ""});
    if (!events.empty()) callbacks.on_data(events);
    return std::make_unique<HttpStream>();
  }

 private:
  static std::string Parameter(const std::string& path, const std::string& name) {
    const size_t at = path.find(absl::StrCat(name, "="));
    if (at == std::string::npos) return "";
    const size_t begin = at + name.size() + 1;
    return path.substr(begin, path.find('&', begin) - begin);
  }

  tests::FakeClock& clock_;
  const std::string rest_;
  absl::Mutex mu_;
  std::map<std::string, std::string> pages_ ABSL_GUARDED_BY(mu_);
  std::string events_ ABSL_GUARDED_BY(mu_);
  std::vector<std::string> watched_from_ ABSL_GUARDED_BY(mu_);
  int lists_ ABSL_GUARDED_BY(mu_) = 0;
};

std::string Contents(const Informer& informer) {
  std::map<std::string, std::string> found;
  for (const ObjectPtr& object : informer.store().List()) {
    found[std::string(object->name())] = std::string(object->resource_version());
  }
  return absl::StrJoin(found, " ", absl::PairFormatter("@"));
}

}  // namespace

TEST_CASE("a list that outlives its token goes on, and a watch reports what its pages miss") {
  tests::FakeClock clock;
  const auto server = std::make_shared<SlowServer>(clock, "rest");
  server->Answer("", Page(10, {Item("a", 1), Item("b", 2), Item("c", 3)}, "t1"));
  server->Answer("t1", Page(10, {Item("f", 4)}, "expired"));
  server->Answer("rest", Page(50, {Item("k", 5), Item("m", 45), Item("n", 48), Item("o", 6)}, ""));
  server->Report(absl::StrCat(
      Event("MODIFIED", Item("a", 11)), Event("DELETED", Item("b", 12)),
      Event("ADDED", Item("d", 13)), Event("DELETED", Item("l", 14)), Event("ADDED", Item("m", 15)),
      // It was deleted after the list began, and made again: the page has the later one.
      Event("ADDED", Item("n", 16)), Event("DELETED", Item("n", 17)),
      // It is deleted after the page was read, and the watch is ahead.
      Event("DELETED", Item("o", 60))));
  Client client(server, {.name = "member1"}, clock, nullptr);
  InformerSet informers(client, clock);
  const auto informer = informers.Get(kConfigMaps);
  // What a reader of progress would have seen first.
  std::string first;
  informer->AddHandler({.on_progress = [&](int64_t) {
    if (first.empty()) first = Contents(*informer);
  }});
  REQUIRE(tests::Eventually([&] { return informer->HasSynced(); }));
  CHECK(first == Contents(*informer));
  CHECK(Contents(*informer) == "a@11 c@3 d@13 f@4 k@5 m@45 n@48");
  CHECK(server->lists() == 1);
  CHECK(server->watched_from() == std::vector<std::string>{"10"});
  informers.Stop();
}

TEST_CASE("a list that cannot go on starts over, and the watch begins where it did then") {
  tests::FakeClock clock;
  const auto server = std::make_shared<SlowServer>(clock, "");
  server->Answer("", Page(10, {Item("a", 1), Item("b", 2)}, "t1"));
  server->Answer("t1", Page(10, {Item("c", 3)}, "expired"));
  Client client(server, {.name = "member1"}, clock, nullptr);
  InformerSet informers(client, clock);
  const auto informer = informers.Get(kConfigMaps);
  REQUIRE(tests::Eventually([&] { return server->lists() > 1; }));
  CHECK_FALSE(informer->HasSynced());
  server->Answer("", Page(30, {Item("a", 1), Item("d", 25)}, "t2"));
  server->Answer("t2", Page(30, {}, ""));
  REQUIRE(tests::Eventually([&] {
    clock.Advance(absl::Seconds(1));  // A list that has failed is begun again after a pause.
    return informer->HasSynced();
  }));
  CHECK(Contents(*informer) == "a@1 d@25");
  CHECK(server->watched_from().back() == "30");
  informers.Stop();
}

TEST_CASE("a list does not bring back what was deleted long before its last page") {
  tests::FakeClock clock;
  const auto server = std::make_shared<SlowServer>(clock, "");
  server->Answer("", Page(10, {Item("a", 1)}, "1"));
  constexpr int kPages = 10;  // Twenty minutes, in which stores forget what they know otherwise.
  for (int i = 1; i < kPages; ++i) {
    server->Answer(absl::StrCat(i), Page(10, {Item(absl::StrCat("p", i), 2)}, absl::StrCat(i + 1)));
  }
  server->Answer(absl::StrCat(kPages), Page(10, {Item("z", 3)}, ""));
  server->Report(Event("DELETED", Item("z", 12)));
  Client client(server, {.name = "member1"}, clock, nullptr);
  InformerSet informers(client, clock);
  const auto informer = informers.Get(kConfigMaps);
  REQUIRE(tests::Eventually([&] { return informer->HasSynced(); }));
  CHECK(informer->store().Find({"ns", "a"}) != nullptr);
  CHECK(informer->store().Find({"ns", "z"}) == nullptr);
  informers.Stop();
}

TEST_CASE("the token of an error is that of the rest of a list") {
  const absl::Status expired = ErrorOfStatusObject(
      json::Parse(R"({"code": 410, "reason": "Expired", "metadata": {"continue": "t"}})").value(),
      410);
  CHECK(TokenForRest(base::Annotate(expired, "list pods")) == "t");
  CHECK(TokenForRest(absl::OutOfRangeError("too old")) == "");
  const absl::Status refused = ErrorOfStatusObject(
      json::Parse(R"({"code": 400, "metadata": {"continue": "t"}})").value(), 400);
  CHECK(TokenForRest(refused) == "");
}

}  // namespace kube
