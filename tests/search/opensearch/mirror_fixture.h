// A mirror between a cache of some objects and an OpenSearch.
#ifndef TESTS_SEARCH_OPENSEARCH_MIRROR_FIXTURE_H_
#define TESTS_SEARCH_OPENSEARCH_MIRROR_FIXTURE_H_

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <utility>

#include <catch2/catch.hpp>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/synchronization/mutex.h"
#include "base/clock.h"
#include "search/opensearch/document.h"
#include "search/opensearch/document_version.h"
#include "search/opensearch/mirror.h"
#include "tests/search/opensearch/fake_opensearch.h"

namespace tests {

// The objects of a slice, as a cache has them. Thread-safe.
class FakeSlice : public search::SliceSource {
 public:
  static search::MirroredObject Mirrored(const std::string& uid, int64_t version,
                                         const std::string& json) {
    return {uid, version, [json] { return json; }};
  }
  void Put(const std::string& uid, int64_t version, const std::string& json) {
    absl::MutexLock lock(&mu_);
    objects_[uid] = {version, json};
    known_version_ = std::max(known_version_, version);
  }
  void Erase(const std::string& uid, int64_t version) {
    absl::MutexLock lock(&mu_);
    objects_.erase(uid);
    known_version_ = std::max(known_version_, version);
  }
  void Clear() {
    absl::MutexLock lock(&mu_);
    objects_.clear();
    known_version_ = 0;
  }
  void SetKnownVersion(int64_t version) {
    absl::MutexLock lock(&mu_);
    known_version_ = version;
  }
  void SetServerVersion(int64_t version) {
    absl::MutexLock lock(&mu_);
    server_version_ = version;
  }
  void SetError(absl::Status error) {
    absl::MutexLock lock(&mu_);
    error_ = std::move(error);
  }

  absl::StatusOr<search::SliceSnapshot> Snapshot() override {
    absl::MutexLock lock(&mu_);
    if (!error_.ok()) return error_;
    search::SliceSnapshot snapshot{.known_version = known_version_};
    for (const auto& [uid, object] : objects_) {
      snapshot.objects.push_back(Mirrored(uid, object.first, object.second));
    }
    return snapshot;
  }
  absl::StatusOr<int64_t> ServerVersion(const base::StopToken&) override {
    absl::MutexLock lock(&mu_);
    return std::max(server_version_, known_version_);
  }

 private:
  absl::Mutex mu_;
  absl::Status error_;
  int64_t known_version_ = 0, server_version_ = 0;
  std::map<std::string, std::pair<int64_t, std::string>> objects_;
};

class MirrorFixture {
 public:
  MirrorFixture() { Start(); }

  void Start() {
    options_.addresses = {server_.url()};
    options_.index_prefix = server_.prefix();
    options_.bulk_wait = absl::Milliseconds(10);
    options_.min_backoff = absl::Milliseconds(10);
    options_.max_backoff = absl::Milliseconds(100);
    options_.look_period = absl::Milliseconds(50);
    auto mirror = search::OpenSearchMirror::Create(options_, base::RealClock(), &metrics_);
    REQUIRE(mirror.ok());
    mirror_ = *std::move(mirror);
  }
  // As after a restart: another mirror, which knows nothing.
  void Restart() {
    mirror_ = nullptr;
    Start();
  }
  void Settle() {
    // A real server that starts again takes minutes on a busy machine.
    const auto deadline = base::RealClock().SteadyNow() + absl::Minutes(5);
    const absl::Status idle = mirror_->AwaitIdle(deadline, {});
    INFO(idle.message());
    REQUIRE(idle.ok());
  }

  static std::string Pod(const std::string& uid, int64_t version, const std::string& more = "") {
    return absl::StrCat(R"({"apiVersion":"v1","kind":"Pod","metadata":{"namespace":"default",)",
                        R"("name":"pod-)", uid, R"(","uid":")", uid, R"(","resourceVersion":")",
                        version, R"("},"spec":{"nodeName":"node-1"})", more, "}");
  }
  void Put(const search::Slice& slice, FakeSlice& cache, const std::string& uid, int64_t version,
           const std::string& more = "") {
    cache.Put(uid, version, Pod(uid, version, more));
    mirror_->Upsert(slice, FakeSlice::Mirrored(uid, version, Pod(uid, version, more)));
  }
  void Erase(const search::Slice& slice, FakeSlice& cache, const std::string& uid,
             int64_t version) {
    cache.Erase(uid, version);
    mirror_->Delete(slice, uid, version);
  }
  std::string Index(const search::Slice& slice) const {
    return search::IndexName(server_.prefix(), slice.kind);
  }
  json::Value Document(const search::Slice& slice, const std::string& uid) {
    return server_.Document(Index(slice), search::DocumentId(slice.cluster, uid));
  }
  // The resourceVersion of the document; "" if there is none.
  std::string Version(const search::Slice& slice, const std::string& uid) {
    return Document(slice, uid).Get({"_source", "resourceVersion"}).ToString();
  }
  int64_t Count(const search::Slice& slice) { return server_.Count(Index(slice), slice.cluster); }

 protected:
  const search::Slice pods1_ = {"member1", {"", "v1", "Pod"}};
  const search::Slice pods2_ = {"member2", {"", "v1", "Pod"}};
  const search::Slice deployments1_ = {"member1", {"apps", "v1", "Deployment"}};
  TestOpenSearch server_;
  metrics::Registry metrics_;
  search::MirrorOptions options_;
  std::unique_ptr<search::OpenSearchMirror> mirror_;
  const std::shared_ptr<FakeSlice> cache1_ = std::make_shared<FakeSlice>();
  const std::shared_ptr<FakeSlice> cache2_ = std::make_shared<FakeSlice>();
};

}  // namespace tests

#endif  // TESTS_SEARCH_OPENSEARCH_MIRROR_FIXTURE_H_
