#include "search/opensearch/mirror_set.h"

#include <algorithm>
#include <atomic>
#include <catch2/catch.hpp>
#include <optional>

#include "absl/strings/escaping.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "tests/search/opensearch/mirror_fixture.h"
#include "tests/support/captured_stderr.h"
#include "tests/support/eventually.h"

namespace tests {
namespace {

class MirrorSetFixture : public MirrorFixture {
 protected:
  MirrorSetFixture() {
    mirror_ = nullptr;
    set_options_.mirror = options_;
    set_options_.mirror.index_prefix = server_.prefix();
    set_options_.secret = [this](const kube::ObjectKey& key) -> absl::StatusOr<kube::Object> {
      absl::MutexLock lock(&mu_);
      if (password_ == "forbidden") return absl::PermissionDeniedError("it is forbidden");
      if (password_.empty()) return absl::NotFoundError("it does not exist");
      kube::Object secret = kube::Object::Make({"", "v1", "Secret"}, key);
      secret.Set({"data", "username"}, absl::Base64Escape("u"));
      secret.Set({"data", "password"}, absl::Base64Escape(password_));
      return secret;
    };
    StartSet();
    cache1_->Put("a", 5, Pod("a", 5));
    cache2_->Put("b", 6, Pod("b", 6));
  }
  void StartSet() {
    set_ = nullptr;
    set_ = std::make_unique<search::MirrorSet>(set_options_, base::RealClock(), &metrics_);
  }
  // The same OpenSearch under another address.
  std::string OtherAddress() { return absl::StrReplaceAll(server_.url(), {{"://", "://u:p@"}}); }
  // Counts the bulk requests that delete something.
  void CountDeletions(TestOpenSearch& server) {
    server.SetFault([this](const base::HttpRequest& request) {
      if (absl::StrContains(request.body, "{\"delete\":")) ++deletions_;
      return std::optional<base::HttpResponse>();
    });
  }
  // Whether each mirror has compared everything.
  bool HasCompared(size_t mirrors) {
    return Eventually([&] {
      const auto all = set_->Status();
      return all.size() == mirrors && std::all_of(all.begin(), all.end(), [](const auto& status) {
               return status.mirror.connected && status.mirror.slices > 0 &&
                      status.mirror.unreconciled_slices == 0;
             });
    });
  }
  static api::OpenSearchTarget At(const std::vector<std::string>& addresses,
                                  const std::string& secret = "") {
    return {addresses, {secret.empty() ? "" : "ns", secret}};
  }
  bool Has(const search::Slice& slice, const std::string& uid) {
    return Eventually([&] { return !Version(slice, uid).empty(); });
  }
  bool HasNot(const search::Slice& slice, const std::string& uid) {
    return Eventually([&] { return Version(slice, uid).empty(); });
  }
  void SetPassword(const std::string& password) {
    absl::MutexLock lock(&mu_);
    password_ = password;
  }

  std::atomic<int> deletions_ = 0;
  absl::Mutex mu_;
  std::string password_;  // Guarded by mu_.
  search::MirrorSet::Options set_options_;
  std::unique_ptr<search::MirrorSet> set_;
};

TEST_CASE_METHOD(MirrorSetFixture, "Slices come and go with the registries that ask for them") {
  set_->Synced(pods1_, cache1_);
  set_->Synced(pods2_, cache2_);
  CHECK(set_->MirrorsOf(pods1_.kind).empty());
  set_->SetTargets({{At({server_.url()}), {pods1_}}});
  CHECK(Has(pods1_, "a"));
  set_->SetTargets({{At({server_.url()}), {pods1_, pods2_}}});
  CHECK(Has(pods2_, "b"));
  cache2_->Put("c", 7, Pod("c", 7));
  set_->Upsert(pods2_, FakeSlice::Mirrored("c", 7, Pod("c", 7)));
  CHECK(Has(pods2_, "c"));
  cache2_->Erase("c", 8);
  set_->Delete(pods2_, "c", 8, "");
  CHECK(HasNot(pods2_, "c"));
  CHECK(set_->MirrorsOf(pods1_.kind).size() == 1);
  CHECK(set_->MirrorsOf(deployments1_.kind).empty());
  set_->SetTargets({{At({server_.url()}), {pods2_}}});
  CHECK(HasNot(pods1_, "a"));
  CHECK(Version(pods2_, "b") == "6");
  // Nobody asks for this OpenSearch any more.
  set_->SetTargets({});
  CHECK(HasNot(pods2_, "b"));
  CHECK(set_->Status().empty());
}

TEST_CASE_METHOD(MirrorSetFixture, "Targets that share an address are one mirror") {
  const std::string other = "http://127.0.0.1:9";
  set_->Synced(pods1_, cache1_);
  set_->Synced(pods2_, cache2_);
  set_->SetTargets({{At({server_.url() + "/"}), {pods1_}}, {At({server_.url(), other}), {pods2_}}});
  CHECK(Has(pods1_, "a"));
  CHECK(Has(pods2_, "b"));
  REQUIRE(set_->Status().size() == 1);
  CHECK(set_->Status()[0].addresses == std::vector<std::string>{server_.url(), other});
  // A change of addresses deletes nothing that is still asked for.
  set_->SetTargets({{At({server_.url()}), {pods1_}}});
  CHECK(HasNot(pods2_, "b"));
  CHECK(Version(pods1_, "a") == "5");
}

TEST_CASE_METHOD(MirrorSetFixture, "Another address of the same OpenSearch keeps its documents") {
  CountDeletions(server_);
  set_->Synced(pods1_, cache1_);
  set_->SetTargets({{At({server_.url()}), {pods1_}}});
  REQUIRE(Has(pods1_, "a"));
  REQUIRE(HasCompared(1));
  set_->SetTargets({{At({OtherAddress()}), {pods1_}}});
  CHECK(HasCompared(1));
  cache1_->Put("z", 8, Pod("z", 8));
  set_->Upsert(pods1_, FakeSlice::Mirrored("z", 8, Pod("z", 8)));
  CHECK(Has(pods1_, "z"));
  CHECK(Version(pods1_, "a") == "5");
  CHECK(deletions_ == 0);
}

TEST_CASE_METHOD(MirrorSetFixture,
                 "Targets whose addresses lead to one OpenSearch are one mirror") {
  CountDeletions(server_);
  set_->Synced(pods1_, cache1_);
  set_->Synced(pods2_, cache2_);
  set_->SetTargets({{At({server_.url()}), {pods1_}}, {At({OtherAddress()}), {pods2_}}});
  CHECK(Has(pods1_, "a"));
  CHECK(Has(pods2_, "b"));
  CHECK(HasCompared(1));
  CHECK(deletions_ == 0);
  const std::vector<std::string> both = {server_.url(), OtherAddress()};
  REQUIRE(set_->Status().size() == 1);
  CHECK(set_->Status()[0].addresses == both);
}

TEST_CASE_METHOD(MirrorSetFixture, "A target gets no other namespaces than those it asks for") {
  class Source : public FakeSlice {
    absl::StatusOr<search::SliceSnapshot> Snapshot() override {
      auto snapshot = FakeSlice::Snapshot();
      for (search::MirroredObject& object : snapshot->objects) object.ns = object.uid.substr(0, 1);
      return snapshot;
    }
  };
  const auto source = std::make_shared<Source>();
  for (const char* uid : {"x1", "y1", "z1"}) source->Put(uid, 5, Pod(uid, 5));
  const auto update = [&](const std::string& uid, int64_t version) {
    search::MirroredObject object = FakeSlice::Mirrored(uid, version, Pod(uid, version));
    object.ns = uid.substr(0, 1);
    source->Put(uid, version, Pod(uid, version));
    set_->Upsert(pods1_, object);
  };
  set_->Synced(pods1_, source);
  set_->SetTargets({{At({server_.url()}), {pods1_}, {{pods1_, {"x"}}}},
                    {At({server_.url()}), {pods1_}, {{pods1_, {"y"}}}}});
  CHECK(Has(pods1_, "y1"));
  REQUIRE(HasCompared(1));
  update("z2", 6);
  update("x2", 7);
  CHECK(Has(pods1_, "x2"));
  CHECK(Count(pods1_) == 3);
  set_->SetTargets({{At({server_.url()}), {pods1_}, {{pods1_, {"x"}}}}});
  CHECK(HasNot(pods1_, "y1"));
  CHECK(Count(pods1_) == 2);
  set_->SetTargets({{At({server_.url()}), {pods1_}}});
  CHECK(Has(pods1_, "z2"));
}

TEST_CASE_METHOD(MirrorSetFixture, "What leaves waits until the new OpenSearch is known") {
  TestOpenSearch other;
  other.SetDown(true);
  CountDeletions(server_);
  set_->Synced(pods1_, cache1_);
  set_->SetTargets({{At({server_.url()}), {pods1_}}});
  REQUIRE(Has(pods1_, "a"));
  set_->SetTargets({{At({other.url()}), {pods1_}}});
  CHECK(Eventually([&] { return !set_->Status()[0].mirror.last_error.empty(); }));
  CHECK(deletions_ == 0);
  other.SetDown(false);
  CHECK(HasNot(pods1_, "a"));
  CHECK(Eventually([&] {
    return !other.Document(Index(pods1_), search::DocumentId("member1", "a")).is_null();
  }));
}

TEST_CASE_METHOD(MirrorSetFixture, "What leaves writes nothing more while it waits") {
  TestOpenSearch other;
  other.SetDown(true);
  std::atomic<bool> busy = true;
  std::atomic<int> written = 0;
  server_.SetFault([&](const base::HttpRequest& request) -> std::optional<base::HttpResponse> {
    if (request.path != "/_bulk") return std::nullopt;
    if (busy) return base::HttpResponse{.code = 503, .body = "busy"};
    if (absl::StrContains(request.body, "{\"index\":")) ++written;
    return std::nullopt;
  });
  set_->Synced(pods1_, cache1_);
  set_->SetTargets({{At({server_.url()}), {pods1_}}});
  REQUIRE(Eventually([&] { return server_.Requests("_bulk") > 0; }));
  // It has a document to write when its registry goes.
  set_->SetTargets({{At({other.url()}), {pods1_}}});
  const auto looks_on = [&] {
    const int looks = server_.Requests("GET /");
    return Eventually([&] { return server_.Requests("GET /") > looks + 3; });
  };
  // A request that was under way when it left is answered as before.
  REQUIRE(looks_on());
  busy = false;
  CHECK(looks_on());
  CHECK(written == 0);
}

TEST_CASE_METHOD(MirrorSetFixture,
                 "What leaves waits for a time, and what it leaves is found later") {
  if (TestOpenSearch::IsReal()) return;
  const CapturedStderr log;
  TestOpenSearch other;
  other.SetDown(true);
  set_options_.farewell_wait = absl::Milliseconds(1);
  StartSet();
  set_->Synced(pods1_, cache1_);
  set_->Synced(pods2_, cache2_);
  set_->SetTargets({{At({OtherAddress()}), {pods1_}}});
  REQUIRE(Has(pods1_, "a"));
  set_->SetTargets({{At({other.url()}), {pods1_}}});
  CHECK(Eventually([&] {
    return absl::StrContains(log.Text(), "documents stay in an OpenSearch that no ResourceReg");
  }));
  CHECK(absl::StrContains(log.Text(), server_.url()));
  CHECK_FALSE(absl::StrContains(log.Text(), "u:p@"));
  const int requests = server_.Requests("");
  CHECK(Eventually([&] { return !set_->Status()[0].mirror.last_error.empty(); }));
  CHECK(server_.Requests("") == requests);
  CHECK(Version(pods1_, "a") == "5");
  // Another process, which knows nothing of it.
  StartSet();
  set_->Synced(pods2_, cache2_);
  set_->SetTargets({{At({server_.url()}), {pods2_}}});
  CHECK(HasNot(pods1_, "a"));
  CHECK(Has(pods2_, "b"));
}

TEST_CASE_METHOD(MirrorSetFixture,
                 "Of addresses of different OpenSearches the first one's are used") {
  TestOpenSearch other;
  set_->Synced(pods1_, cache1_);
  set_->SetTargets({{At({server_.url(), other.url()}), {pods1_}}});
  CHECK(Has(pods1_, "a"));
  REQUIRE(HasCompared(1));
  search::MirrorStatus status = set_->Status()[0].mirror;
  CHECK(status.cluster_uuid == server_.cluster_uuid());
  REQUIRE(status.unused.size() == 1);
  CHECK(status.unused[other.url()] ==
        absl::StrCat("it leads to the OpenSearch cluster ", other.cluster_uuid()));
  for (int64_t version = 10; version < 20; ++version) {
    set_->Upsert(pods1_, FakeSlice::Mirrored("z", version, Pod("z", version)));
    CHECK(Eventually([&] { return Version(pods1_, "z") == absl::StrCat(version); }));
  }
  CHECK(other.Requests("_bulk") == 0);
  CHECK(other.Requests("_search") == 0);
  // The one behind the second address is replaced by the first one.
  other.Change([uuid = server_.cluster_uuid()](auto& memory) { memory.cluster_uuid = uuid; });
  CHECK(Eventually([&] { return set_->Status()[0].mirror.unused.empty(); }));
}

TEST_CASE_METHOD(MirrorSetFixture, "Targets that share an address keep each its own OpenSearch") {
  TestOpenSearch other;
  set_->Synced(pods1_, cache1_);
  set_->Synced(pods2_, cache2_);
  const api::OpenSearchTarget both = At({server_.url(), other.url()});
  const api::OpenSearchTarget one = At({other.url()});
  // `other` has the prefix of the fixture's server, too.
  set_->SetTargets({{both, {pods1_}}, {one, {pods2_}}});
  CHECK(Has(pods1_, "a"));
  CHECK(Eventually([&] { return other.Count(Index(pods2_), "member2") == 1; }));
  REQUIRE(HasCompared(2));
  CHECK(Count(pods2_) == 0);
  CHECK(other.Count(Index(pods1_), "member1") == 0);
  for (const auto& status : set_->Status()) {
    REQUIRE(status.targets.size() == 1);
    CHECK(status.mirror.unused.size() == (status.targets[0] == both ? 1 : 0));
    CHECK(status.mirror.cluster_uuid ==
          (status.targets[0] == both ? server_.cluster_uuid() : other.cluster_uuid()));
  }
}

TEST_CASE_METHOD(MirrorSetFixture, "An address that comes to lead elsewhere is not written to") {
  TestOpenSearch other;
  std::atomic<bool> forwards = true;
  // A second node of the same OpenSearch.
  other.SetFault([&](const base::HttpRequest& request) -> std::optional<base::HttpResponse> {
    if (!forwards) return std::nullopt;
    return server_.Ask(request.method, request.target, request.body);
  });
  set_->Synced(pods1_, cache1_);
  set_->SetTargets({{At({server_.url(), other.url()}), {pods1_}}});
  CHECK(Has(pods1_, "a"));
  REQUIRE(HasCompared(1));
  CHECK(set_->Status()[0].mirror.unused.empty());
  forwards = false;
  CHECK(Eventually([&] { return !set_->Status()[0].mirror.unused.empty(); }));
  const int before = other.Requests("_bulk");
  for (int64_t version = 10; version < 20; ++version) {
    set_->Upsert(pods1_, FakeSlice::Mirrored("z", version, Pod("z", version)));
    CHECK(Eventually([&] { return Version(pods1_, "z") == absl::StrCat(version); }));
  }
  CHECK(other.Requests("_bulk") == before);
  forwards = true;
  CHECK(Eventually([&] { return set_->Status()[0].mirror.unused.empty(); }));
}

TEST_CASE_METHOD(MirrorSetFixture,
                 "A Secret goes to no address of a target that does not name it") {
  TestOpenSearch other;
  std::atomic<int> seen = 0;
  other.SetFault([&](const base::HttpRequest& request) -> std::optional<base::HttpResponse> {
    if (!request.Header("authorization").empty()) ++seen;
    // It says that it is the same OpenSearch.
    return server_.Ask(request.method, request.target, request.body);
  });
  SetPassword("good");
  set_->Synced(pods1_, cache1_);
  set_->Synced(pods2_, cache2_);
  set_->SetTargets({{At({server_.url()}, "os"), {pods1_}},
                    {At({server_.url(), other.url()}), {pods2_}},
                    {At({other.url()}), {pods2_}}});
  CHECK(Has(pods1_, "a"));
  CHECK(Has(pods2_, "b"));
  CHECK(HasCompared(1));
  CHECK(set_->Status()[0].targets.size() == 3);
  CHECK(seen == 0);
}

TEST_CASE_METHOD(MirrorSetFixture, "An unusable address is reported, and others are used") {
  set_->Synced(pods1_, cache1_);
  set_->SetTargets({{At({"ftp://u:hunter2@x"}), {pods1_}}, {At({server_.url()}), {pods1_}}});
  CHECK(Has(pods1_, "a"));
  const auto status = set_->Status();
  REQUIRE(status.size() == 2);
  const auto unusable = std::find_if(status.begin(), status.end(),
                                     [](const auto& one) { return !one.error.empty(); });
  REQUIRE(unusable != status.end());
  CHECK(absl::StrContains(unusable->error, "http or https"));
  CHECK_FALSE(absl::StrContains(unusable->error, "hunter2"));
}

TEST_CASE_METHOD(MirrorSetFixture, "An unusable address stops neither its target nor another one") {
  set_->Synced(pods1_, cache1_);
  set_->Synced(pods2_, cache2_);
  set_->SetTargets(
      {{At({"ftp://u:hunter2@x", server_.url()}), {pods1_}}, {At({server_.url()}), {pods2_}}});
  CHECK(Has(pods1_, "a"));
  CHECK(Has(pods2_, "b"));
  const auto status = set_->Status();
  REQUIRE(status.size() == 1);
  REQUIRE(status[0].mirror.unused.size() == 1);
  CHECK(status[0].mirror.unused.begin()->first == "ftp://x");
}

TEST_CASE_METHOD(MirrorSetFixture, "Without its Secret a mirror waits, and follows its changes") {
  server_.SetFault([](const base::HttpRequest& request) -> std::optional<base::HttpResponse> {
    // base64 of u:good.
    if (request.Header("authorization") == "Basic dTpnb29k") return std::nullopt;
    return base::HttpResponse{.code = 401};
  });
  set_->Synced(pods1_, cache1_);
  set_->SetTargets({});  // Ends the mirror of the fixture, which may have sent some.
  const int before = server_.Requests("");
  set_->SetTargets({{At({server_.url()}, "os"), {pods1_}}});
  CHECK(Eventually([&] {
    return absl::StrContains(set_->Status()[0].mirror.last_error, "Secret ns/os: it does not");
  }));
  CHECK(server_.Requests("") == before);
  SetPassword("bad");
  set_->ReloadCredentials({"ns", "os"});
  CHECK(Eventually([&] { return absl::StrContains(set_->Status()[0].mirror.last_error, "401"); }));
  SetPassword("good");
  set_->ReloadCredentials({"ns", "os"});
  CHECK(Has(pods1_, "a"));
  // It may not be used any more.
  SetPassword("forbidden");
  set_->ReloadCredentials({"ns", "os"});
  CHECK(Eventually(
      [&] { return absl::StrContains(set_->Status()[0].mirror.last_error, "it is forbidden"); }));
  const int requests = server_.Requests("");
  set_->Upsert(pods1_, FakeSlice::Mirrored("z", 8, Pod("z", 8)));
  set_->ReloadCredentials({"ns", "os"});
  CHECK(Eventually([&] { return !set_->Status()[0].mirror.connected; }));
  CHECK(server_.Requests("") == requests);
}

}  // namespace
}  // namespace tests
