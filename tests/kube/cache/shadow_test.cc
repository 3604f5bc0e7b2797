// A shadow under a ClusterClient: nothing that a client can do changes the server or the caches,
// each call has the result that the server would give, and what is still due is reported once.
#include "kube/shadow/shadow.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <cstddef>
#include <functional>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "kube/cache/guarded_update.h"
#include "kube/client/errors.h"
#include "tests/kube/cache/shadow_fixture.h"
#include "tests/support/captured_stderr.h"

namespace kube {
namespace {

const Resource kSecrets = {{"", "v1", "Secret"}, "secrets", true};
const Resource kSpaces = {{"", "v1", "Namespace"}, "namespaces", false};
const Resource kWorks = {{"work.karmada.io", "v1alpha1", "Work"}, "works", true};
const Resource kLeases = {{"coordination.k8s.io", "v1", "Lease"}, "leases", true};
const Resource kReviews = {
    {"authorization.k8s.io", "v1", "SubjectAccessReview"}, "subjectaccessreviews", false};

}  // namespace

TEST_CASE_METHOD(ShadowFixture, "No write of any kind reaches the server") {
  const ObjectPtr there = PutMap("there", "a");
  Object changed = *there;
  changed.Set({"data", "k"}, "b");
  CHECK(cluster.Create(kMaps, Map("new", "a"), stop).ok());
  CHECK(SetMap(there, "b").ok());
  CHECK(cluster.Update(kMaps, there, changed, {.subresource = "status"}, stop).ok());
  CHECK(cluster.Apply(kMaps, there, changed, {.field_manager = "m", .force = true}, stop).ok());
  CHECK(GuardedUpdate(cluster, kMaps, {.before = there, .after = changed}, stop).ok());
  CHECK(cluster.Delete(kMaps, there->key(), {}, stop).ok());
  CHECK(client.Replace(kMaps, changed, {}, stop).ok());
  CHECK(client.Replace(kMaps, changed, {.subresource = "status"}, stop).ok());
  CHECK(client.Create(kMaps, Map("dry", "a"), {.dry_run = true}, stop).ok());
  CHECK(client.Create(kMaps, Map("there", "a"), {.subresource = "eviction"}, stop).ok());
  CHECK(client.Create(kSpaces, Object::Make(kSpaces.gvk, {"", "n"}), {}, stop).ok());
  CHECK(counter->writes.empty());
  CHECK(server->Find(kMaps, there->key()).root() == there->root());
  CHECK(server->All(kMaps).size() == 1);
  CHECK(server->All(kSpaces).empty());
}

TEST_CASE_METHOD(ShadowFixture, "Reviews, which store nothing, are asked for") {
  client.Create(kReviews, Object::Make(kReviews.gvk, {}), {}, stop).IgnoreError();
  CHECK(counter->writes ==
        std::vector<std::string>{"POST /apis/authorization.k8s.io/v1/subjectaccessreviews"});
  CHECK(Outstanding().empty());
}

TEST_CASE_METHOD(ShadowFixture, "A write is answered as the server would answer it") {
  const ObjectPtr there = PutMap("there", "a");
  CHECK(AlreadyExists(cluster.Create(kMaps, Map("there", "x"), stop).status()));
  CHECK(
      IsGone(client.Patch(kMaps, {"ns", "none"}, PatchType::kMerge, json::Value::Object(), {}, stop)
                 .status()));
  CHECK(IsGone(client.Delete(kMaps, {"ns", "none"}, {}, stop).status()));
  CHECK(IsConflict(client.Delete(kMaps, there->key(), {.uid = "other"}, stop).status()));
  const ObjectPtr newer = PutMap("there", "b");
  Object after = *there;
  after.Set({"data", "k"}, "c");
  const UpdateOptions guarded{.precondition = UpdateOptions::Precondition::kAlways};
  CHECK(IsConflict(cluster.Update(kMaps, there, after, guarded, stop).status()));
  CHECK(IsConflict(client.Replace(kMaps, after, {}, stop).status()));
  CHECK(Page()["held"].AsInt() == 0);

  const auto would_be = cluster.Update(kMaps, newer, after, guarded, stop);
  REQUIRE(would_be.ok());
  CHECK((*would_be)->Get({"data", "k"}).AsString() == "c");
  CHECK((*would_be)->uid() == newer->uid());
  CHECK((*would_be)->resource_version().empty());
  // The next step of the loop goes on from there.
  Object further = **would_be;
  further.AddFinalizer("example.io/f");
  CHECK(cluster.Update(kMaps, *would_be, further, guarded, stop).ok());

  server->FailNext("GET", 403, "Forbidden");
  CHECK(absl::IsPermissionDenied(SetMap(newer, "d").status()));
}

TEST_CASE_METHOD(ShadowFixture, "No cache takes the result of a write for a state of the server") {
  const ObjectPtr there = PutMap("there", "a");
  const auto informer = informers.Get(kMaps);
  REQUIRE(informer->WaitForSync(clock.SteadyNow() + absl::Minutes(1), stop).ok());
  CHECK(cluster.Create(kMaps, Map("new", "a"), stop).ok());
  CHECK(SetMap(there, "b").ok());
  CHECK(cluster.Find(kMaps, {"ns", "new"}) == nullptr);
  CHECK(cluster.Find(kMaps, there->key())->root() == there->root());
  CHECK(cluster.Delete(kMaps, there->key(), {}, stop).ok());
  REQUIRE(cluster.Find(kMaps, there->key()) != nullptr);
  CHECK_FALSE(cluster.Find(kMaps, there->key())->IsDeleting());
  informers.Stop();
}

TEST_CASE_METHOD(ShadowFixture, "What nobody else writes within the hold is reported, once") {
  const tests::CapturedStderr log;
  const ObjectPtr there = PutMap("there", "a");
  for (int i = 0; i < 5; ++i) {
    CHECK(SetMap(there, "b").ok());
    CHECK(cluster.Create(kMaps, Map("new", "a"), stop).ok());
  }
  shadow->Judge(stop);
  CHECK(Page()["held"].AsInt() == 2);
  CHECK(Page()["outstanding"].AsInt() == 0);
  const json::Value writes = Outstanding();
  REQUIRE(writes.size() == 2);
  CHECK(writes.At(0)["verb"].AsString() == "create");
  CHECK(writes.At(0)["name"].AsString() == "new");
  CHECK(writes.At(1)["verb"].AsString() == "patch");
  CHECK(writes.At(1)["fields"].AsString() == "data.k");
  CHECK(writes.At(1)["patch"].AsString() == R"({"data":{"k":"b"}})");
  CHECK(writes.At(1)["attempts"].AsInt() == 10);
  for (int i = 0; i < 3; ++i) {
    CHECK(SetMap(there, "b").ok());
    shadow->Judge(stop);
  }
  CHECK(Reports("patch", "ConfigMap") == 1);
  CHECK(Reports("create", "ConfigMap") == 1);
  CHECK(Gauge() == 2);
  CHECK(SetMap(there, "c").ok());
  shadow->Judge(stop);
  CHECK(Reports("patch", "ConfigMap") == 2);
}

TEST_CASE_METHOD(ShadowFixture,
                 "A write that somebody else makes, or makes pointless, is withdrawn") {
  const ObjectPtr same = PutMap("same", "a"), other = PutMap("other", "a"),
                  gone = PutMap("gone", "a");
  CHECK(SetMap(same, "b").ok());
  CHECK(SetMap(other, "b").ok());
  CHECK(SetMap(gone, "b").ok());
  CHECK(cluster.Create(kMaps, Map("made", "a"), stop).ok());
  CHECK(cluster.Delete(kMaps, {"ns", "gone"}, {}, stop).ok());
  REQUIRE(Outstanding().size() == 5);
  PutMap("same", "b");
  PutMap("other", "c");  // The loop is woken by that.
  PutMap("made", "b");
  server->Erase(kMaps, {"ns", "gone"});
  shadow->Judge(stop);
  CHECK(Page()["outstanding"].AsInt() == 0);
  CHECK(Page()["held"].AsInt() == 0);
  CHECK(Gauge() == 0);
}

TEST_CASE_METHOD(ShadowFixture, "A write that no loop tries again in a round is withdrawn") {
  CHECK(SetMap(PutMap("there", "a"), "b").ok());
  CHECK_FALSE(shadow->NeedsRound());
  clock.Advance(Shadow::kHold);
  shadow->Judge(stop);
  CHECK(shadow->NeedsRound());
  CHECK(Page()["outstanding"].AsInt() == 0);
  clock.Advance(absl::Seconds(1));
  shadow->BeginRound();
  CHECK(SetMap(PutMap("other", "a"), "b").ok());
  shadow->EndRound();
  shadow->Judge(stop);
  CHECK(Page()["held"].AsInt() == 1);  // The one of the round.
  CHECK(Page()["outstanding"].AsInt() == 0);
}

TEST_CASE_METHOD(ShadowFixture, "What is reported is confirmed again after a while") {
  CHECK(SetMap(PutMap("there", "a"), "b").ok());
  REQUIRE(Outstanding().size() == 1);
  CHECK_FALSE(shadow->NeedsRound());
  clock.Advance(Shadow::kConfirmed + absl::Seconds(1));
  CHECK(shadow->NeedsRound());
  shadow->BeginRound();
  shadow->EndRound();
  shadow->Judge(stop);
  CHECK(Page()["outstanding"].AsInt() == 0);
}

TEST_CASE_METHOD(ShadowFixture, "A change of other fields does not withdraw a write") {
  const ObjectPtr there = PutMap("there", "a");
  CHECK(SetMap(there, "b").ok());
  Object labelled = *there;
  labelled.SetLabel("x", "y");
  server->Put(kMaps, labelled);
  CHECK(Outstanding().size() == 1);
}

TEST_CASE_METHOD(ShadowFixture, "A write is not withdrawn while the server does not answer") {
  const ObjectPtr there = PutMap("there", "a");
  CHECK(SetMap(there, "b").ok());
  REQUIRE(Outstanding().size() == 1);
  server->FailNext("GET", 500, "InternalError");
  shadow->Judge(stop);
  CHECK(Page()["outstanding"].AsInt() == 1);
  counter->cut_off = true;
  CHECK(cluster.Create(kMaps, Map("new", "a"), stop).status().code() != absl::StatusCode::kOk);
  shadow->Judge(stop);
  CHECK(Page()["outstanding"].AsInt() == 1);
}

TEST_CASE_METHOD(ShadowFixture, "Only a 200 and a 404 that names the object settle a write") {
  CHECK(SetMap(PutMap("shown", "a"), "b").ok());
  REQUIRE(Outstanding().size() == 1);
  CHECK(cluster.Create(kMaps, Map("held", "a"), stop).ok());
  for (const int code : {401, 403, 404, 429, 500, 503}) {
    INFO(code);
    counter->without_path = code == 404;
    FailReads(code);
    shadow->Judge(stop);
    CHECK(Count("outstanding") == 1);
    CHECK(Count("held") == 1);
    CHECK(Count("unanswered") == 2);
    server->EndFailures();
    counter->without_path = false;
    shadow->Judge(stop);
    CHECK(Count("unanswered") == 0);
    CHECK(Count("outstanding") == 1);
  }
  PutMap("held", "a");
  server->Erase(kMaps, {"ns", "shown"});
  shadow->Judge(stop);
  CHECK(Count("outstanding") == 0);
  CHECK(Count("held") == 0);
}

TEST_CASE_METHOD(ShadowFixture, "A write whose object cannot be read is counted until it can") {
  PutMap("there", "a");
  PutMap("same", "a");
  for (const int code : {401, 403, 429, 500}) {
    INFO(code);
    FailReads(code);
    CHECK(SendPatch("there", "b") == code);
    CHECK(SendPatch("there", "b") == code);
    CHECK(SendPatch("same", "b") == code);
    CHECK(Count("unanswered") == 2);
    server->EndFailures();
    CHECK(SendPatch("there", "a") == 200);  // Nothing to change.
    CHECK(SendPatch("same", "b") == 200);
    CHECK(Count("unanswered") == 0);
    CHECK(Count("held") == 1);
    PutMap("same", "b");
    shadow->Judge(stop);
    CHECK(Count("held") == 0);
    PutMap("same", "a");
  }
}

TEST_CASE_METHOD(ShadowFixture, "A write without an answer is judged when the server is back") {
  const ObjectPtr there = PutMap("there", "a"), done = PutMap("done", "a");
  counter->cut_off = true;
  CHECK_FALSE(SetMap(there, "b").ok());
  CHECK_FALSE(SetMap(done, "b").ok());
  CHECK_FALSE(cluster.Create(kMaps, Map("new", "a"), stop).ok());
  shadow->Judge(stop);
  CHECK(Count("unanswered") == 3);
  CHECK(Count("held") == 0);
  counter->cut_off = false;
  PutMap("done", "b");
  shadow->Judge(stop);
  CHECK(Count("unanswered") == 0);
  CHECK(Count("held") == 2);
  CHECK(Outstanding().size() == 2);
  CHECK(Page()["writes"].At(1)["patch"].AsString() == R"({"data":{"k":"b"}})");
}

TEST_CASE_METHOD(ShadowFixture, "A round withdraws nothing that could not be tried or judged") {
  const ObjectPtr there = PutMap("there", "a");
  CHECK(SetMap(there, "b").ok());
  clock.Advance(Shadow::kHold);
  REQUIRE(shadow->NeedsRound());
  const auto round = [&](const std::function<void()>& in_it) {
    clock.Advance(absl::Seconds(1));
    shadow->BeginRound();
    clock.Advance(absl::Seconds(1));
    in_it();
    clock.Advance(absl::Seconds(1));
    shadow->EndRound();
    return Count("held");
  };
  const auto refuse = [&](int code) {
    FailReads(code);
    CHECK_FALSE(SetMap(there, "b").ok());
    server->EndFailures();
  };
  CHECK(round([&] { refuse(403); }) == 1);
  CHECK_FALSE(shadow->NeedsRound());  // It could not be tried in one.
  shadow->Judge(stop);
  CHECK(shadow->NeedsRound());
  // The loop does not even try at a server that does not answer its reads.
  counter->cut_off = true;
  CHECK(round([&] { client.Get(kMaps, {"ns", "other"}, stop).IgnoreError(); }) == 1);
  CHECK_FALSE(shadow->NeedsRound());
  CHECK(round([&] { shadow->Judge(stop); }) == 1);
  counter->cut_off = false;
  shadow->Judge(stop);
  CHECK(Count("unanswered") == 0);
  CHECK(round([] {}) == 0);
  CHECK(Count("rounds") == 4);
}

TEST_CASE_METHOD(ShadowFixture, "A round that is given up withdraws nothing and is not counted") {
  CHECK(SetMap(PutMap("there", "a"), "b").ok());
  clock.Advance(Shadow::kHold);
  shadow->BeginRound();
  clock.Advance(absl::Seconds(1));
  shadow->AbandonRound();
  CHECK(Count("held") == 1);
  CHECK(Count("rounds") == 0);
  CHECK(shadow->NeedsRound());
  shadow->BeginRound();
  loops->Repeat();
  shadow->EndRound();
  shadow->Judge(stop);
  CHECK(Count("outstanding") == 1);
  CHECK(shadow->rounds() == 1);
}

TEST_CASE_METHOD(ShadowFixture, "A pass reads some objects only, those first that wait longest") {
  const int writes = 2 * Shadow::kMostReads + 1;
  for (int i = 0; i < writes; ++i) {
    CHECK(cluster.Create(kMaps, Map(absl::StrCat("m", i), "a"), stop).ok());
  }
  for (int i = 0; i < writes; ++i) PutMap(absl::StrCat("m", i), "a");
  CHECK(Count("held") == writes);
  clock.Advance(Shadow::kPeriod);
  const size_t reads = server->Requests("GET").size();
  shadow->Judge(stop);
  CHECK(server->Requests("GET").size() == reads + Shadow::kMostReads);
  CHECK(Count("held") == writes - Shadow::kMostReads);
  // What is still due does not come again before the one that was left.
  for (int i = 0; i < writes; ++i) server->Erase(kMaps, {"ns", absl::StrCat("m", i)});
  const auto judge = [&] {
    clock.Advance(Shadow::kPeriod);
    const size_t before = server->Requests("GET").size();
    shadow->Judge(stop);
    std::vector<std::string> requests = server->Requests("GET");
    requests.erase(requests.begin(), requests.begin() + static_cast<std::ptrdiff_t>(before));
    return requests;
  };
  const std::vector<std::string> second = judge(), third = judge();
  REQUIRE(second.size() == Shadow::kMostReads);
  REQUIRE(third.size() == Shadow::kMostReads);
  CHECK(std::count(second.begin(), second.end(), third[0]) == 0);
  CHECK(std::count(second.begin(), second.end(), third[1]) == 1);
  CHECK(Count("held") == writes - Shadow::kMostReads);
}

TEST_CASE_METHOD(ShadowFixture, "A full table throws out what is withdrawn, and counts the rest") {
  const auto create = [&](size_t from, size_t to) {
    for (size_t i = from; i < to; ++i) {
      const HttpRequest request{
          .method = "POST",
          .path = "/api/v1/namespaces/ns/configmaps",
          .content_type = "application/json",
          .body = absl::StrCat(R"({"kind":"ConfigMap","metadata":{"name":"m)", i, "\"}}")};
      REQUIRE(loops->Send(request, stop)->code == 201);
    }
  };
  create(0, Shadow::kMostRecords);
  create(Shadow::kMostRecords, Shadow::kMostRecords + 3);
  CHECK(Count("held") == Shadow::kMostRecords);
  CHECK(Count("notListed") == 3);
  clock.Advance(absl::Seconds(1));
  shadow->BeginRound();
  CHECK(Count("notListed") == 0);
  shadow->EndRound();
  CHECK(Count("held") == 0);
  create(Shadow::kMostRecords, Shadow::kMostRecords + 3);
  CHECK(Count("held") == 3);
  CHECK(Count("notListed") == 0);
}

TEST_CASE_METHOD(ShadowFixture, "Two programs that undo each other's writes are reported") {
  for (int i = 0; i < 4; ++i) {
    CHECK(SetMap(PutMap("there", "a"), "b").ok());
    shadow->Judge(stop);
    PutMap("there", "c");
    shadow->Judge(stop);
    CHECK(Page()["held"].AsInt() == 0);
    clock.Advance(Shadow::kHold / 2);
  }
  CHECK(Reports("patch", "ConfigMap") == 0);
  CHECK(SetMap(PutMap("there", "a"), "b").ok());
  Round();
  shadow->Judge(stop);
  CHECK(Reports("patch", "ConfigMap") == 1);
}

TEST_CASE_METHOD(ShadowFixture, "Times and UUIDs alone do not make another write") {
  const ObjectPtr there = PutMap("there", "a");
  CHECK(SetMap(there, "2024-01-01T00:00:00Z").ok());
  CHECK(Outstanding().size() == 1);
  CHECK(SetMap(there, "2024-01-01T00:00:01Z").ok());
  shadow->Judge(stop);
  CHECK(Reports("patch", "ConfigMap") == 1);
}

TEST_CASE_METHOD(ShadowFixture, "Nobody renews a Lease from the shadow") {
  Object lease = Object::Make(kLeases.gvk, {"ns", "m"});
  lease.Set({"spec", "holderIdentity"}, "a");
  const ObjectPtr there = Share(server->Put(kLeases, lease));
  Object after = *there;
  after.Set({"spec", "renewTime"}, "2024-01-01T00:00:00.000000Z");
  CHECK(cluster.Update(kLeases, there, after, {}, stop).ok());
  CHECK(Outstanding().empty());
  after.Set({"spec", "leaseDurationSeconds"}, 40);
  CHECK(cluster.Update(kLeases, there, after, {}, stop).ok());
  CHECK(Outstanding().size() == 1);
}

TEST_CASE_METHOD(ShadowFixture, "No value of a Secret is shown, in a Work neither") {
  const tests::CapturedStderr log;
  Object secret = Object::Make(kSecrets.gvk, {"ns", "s"});
  const ObjectPtr there = Share(server->Put(kSecrets, secret));
  Object after = *there;
  after.Set({"data", "password"}, "aHVudGVyMg==");
  after.SetAnnotation("last", "aHVudGVyMg==");
  CHECK(cluster.Update(kSecrets, there, after, {}, stop).ok());
  Object work = Object::Make(kWorks.gvk, {"ns", "w"});
  const ObjectPtr empty = Share(server->Put(kWorks, work));
  after.Set({"stringData", "kind"}, "hunter2");
  work = *empty;
  json::Value list = json::Value::Array();
  list.Append(after.root());
  work.Set({"spec", "workload", "manifests"}, list);
  work.SetAnnotation("last", R"({"kind":"Secret","data":{"password":"aHVudGVyMg=="}})");
  work.SetAnnotation("indented",
                     "\n  {\"kind\":\"Secret\",\"data\":{\"password\":\"aHVudGVyMg==\"}}");
  CHECK(cluster.Update(kWorks, empty, work, {}, stop).ok());
  CHECK(Outstanding().size() == 2);
  const std::string page = shadow->Page();
  CHECK(absl::StrContains(page, "data.password"));
  REQUIRE(absl::StrContains(log.Text(), "shadow: this write would be made"));
  for (const std::string& text : {page, log.Text()}) {
    INFO(text);
    CHECK(absl::StrContains(text, "***"));
    CHECK_FALSE(absl::StrContains(text, "hunter2"));
    CHECK_FALSE(absl::StrContains(text, "aHVudGVyMg"));
  }
}

}  // namespace kube
