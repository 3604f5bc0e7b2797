// A client of reads from the cache of members in memory.
#ifndef TESTS_SEARCH_PROXY_READING_CLIENT_H_
#define TESTS_SEARCH_PROXY_READING_CLIENT_H_

#include <atomic>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_split.h"
#include "search/proxy/cache_reads.h"
#include "tests/search/cache/members.h"
#include "tests/search/proxy/requests.h"

namespace search {

// A client that takes what it gets while it has room.
class ReadingClient : public base::HttpResponder, public base::HttpStream {
 public:
  void Send(base::HttpResponse answer) override {
    const absl::MutexLock lock(&mu_);
    head_ = std::move(answer);
    answered_ = closed_ = true;
  }
  std::shared_ptr<base::HttpStream> StartStream(base::HttpResponse head) override {
    const absl::MutexLock lock(&mu_);
    head_ = std::move(head);
    answered_ = true;
    return {self_.lock(), this};
  }
  void Abort() override { Close(); }

  bool Write(std::string bytes) override {
    const absl::MutexLock lock(&mu_);
    head_.body += bytes;
    return !closed_;
  }
  bool HasRoom() const override {
    const absl::MutexLock lock(&mu_);
    return has_room_;
  }
  void OnRoom(std::function<void()> callback) override {
    {
      const absl::MutexLock lock(&mu_);
      if (!has_room_ && !closed_) {
        on_room_ = std::move(callback);
        return;
      }
    }
    callback();
  }
  void Close() override {
    std::function<void()> on_closed;
    {
      const absl::MutexLock lock(&mu_);
      closed_ = true;
      on_closed = std::exchange(on_closed_, nullptr);
    }
    if (on_closed) on_closed();
  }
  void OnClosed(std::function<void()> callback) override {
    const absl::MutexLock lock(&mu_);
    on_closed_ = std::move(callback);
  }

  static std::shared_ptr<ReadingClient> Make() {
    auto client = std::make_shared<ReadingClient>();
    client->self_ = client;
    return client;
  }
  void SetRoom(bool has_room) {
    std::function<void()> on_room;
    {
      const absl::MutexLock lock(&mu_);
      has_room_ = has_room;
      if (has_room) on_room = std::exchange(on_room_, nullptr);
    }
    if (on_room) on_room();
  }
  base::HttpResponse answer() const {
    const absl::MutexLock lock(&mu_);
    return head_;
  }
  bool answered() const {
    const absl::MutexLock lock(&mu_);
    return answered_;
  }
  bool closed() const {
    const absl::MutexLock lock(&mu_);
    return closed_;
  }
  // REQUIRES: the answer is not that of a watch.
  json::Value Body() const {
    REQUIRE(tests::Eventually([&] { return closed(); }));
    return json::Parse(answer().body).value_or(json::Value());
  }
  // "ADDED m1/x" for each event; the cluster of bookmarks is "", or "end" for that of the initial
  // ones.
  std::vector<std::string> Events() const {
    std::vector<std::string> out;
    const std::string body = answer().body;
    for (const absl::string_view line : absl::StrSplit(body, '\n', absl::SkipEmpty())) {
      const json::Value event = json::Parse(line).value_or(json::Value());
      const kube::Object object(event["object"]);
      const bool end = object.Annotation("k8s.io/initial-events-end") == "true";
      out.push_back(
          absl::StrCat(event["type"].AsString(), " ",
                       end ? "end" : object.Annotation("resource.karmada.io/cached-from-cluster"),
                       "/", object.name()));
    }
    return out;
  }
  std::vector<std::string> Warnings() const {
    std::vector<std::string> out;
    for (const auto& [name, value] : answer().headers) {
      if (name == "Warning") out.push_back(value);
    }
    return out;
  }

 private:
  std::weak_ptr<ReadingClient> self_;
  mutable absl::Mutex mu_;
  base::HttpResponse head_ ABSL_GUARDED_BY(mu_);
  bool has_room_ ABSL_GUARDED_BY(mu_) = true;
  bool answered_ ABSL_GUARDED_BY(mu_) = false;
  bool closed_ ABSL_GUARDED_BY(mu_) = false;
  std::function<void()> on_room_ ABSL_GUARDED_BY(mu_), on_closed_ ABSL_GUARDED_BY(mu_);
};

struct CacheReadsFixture : tests::SearchMembers {
  // Watches end before what they read from.
  ~CacheReadsFixture() override { stop.request_stop(); }

  // Return when the answer has begun.
  std::shared_ptr<ReadingClient> Send(const std::string& target, const std::string& accept = "") {
    auto client = ReadingClient::Make();
    Send(target, accept, client);
    return client;
  }
  void Send(const std::string& target, const std::string& accept,
            const std::shared_ptr<ReadingClient>& client, bool gzip = false) {
    Start(reads, target, accept, client, gzip);
    REQUIRE(tests::Eventually([&] { return client->answered(); }));
  }
  void Start(CacheReads& from, const std::string& target, const std::string& accept,
             const std::shared_ptr<ReadingClient>& client, bool gzip = false) {
    InnerRequest inner = Inner("GET", target);
    if (!accept.empty()) SetHeader(inner.request, "Accept", accept);
    if (gzip) SetHeader(inner.request, "Accept-Encoding", "gzip");
    kube::aggregation::ApiRequest request;
    request.http = inner.request;
    request.info = inner.info;
    request.user.name = user;
    request.stop = stop.get_token();
    from.Answer(std::move(request), {inner.cluster, inner.complete.value_or(false)}, client);
  }
  CacheReads::Options Options(absl::Duration patience) {
    return {.cache = cache(),
            .clock = clock,
            .resource =
                [this](const kube::Gvr&) {
                  return registered ? std::optional<kube::Resource>(tests::kPods) : std::nullopt;
                },
            .clusters =
                [this](const kube::Gvr& gvr) {
                  std::vector<std::string> clusters;
                  for (const char* name : {"m1", "m2", "m3"}) {
                    const bool is_cached = cache().Find(name, gvr) != nullptr;
                    if (is_cached || name == connecting) clusters.emplace_back(name);
                  }
                  return clusters;
                },
            .patience = patience};
  }

  std::atomic<bool> registered = true;  // Whether the scope has Pods.
  std::string connecting;               // A cluster of the scope that has no cache yet.
  std::string user = "bob";             // Who asks.
  base::StopSource stop;
  CacheReads reads{Options(absl::Seconds(3))};
};

}  // namespace search

#endif  // TESTS_SEARCH_PROXY_READING_CLIENT_H_
