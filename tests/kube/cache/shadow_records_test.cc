// Which attempts of loops are one write for a shadow, and how much of them it keeps.
#include "kube/shadow/shadow.h"

#include <catch2/catch.hpp>
#include <cstddef>
#include <string>

#include "absl/strings/str_cat.h"
#include "kube/cache/guarded_update.h"
#include "tests/kube/cache/shadow_fixture.h"
#include "tests/support/captured_stderr.h"

namespace kube {
namespace {

struct RecordsFixture : ShadowFixture {
  // What one loop would write; another one writes other fields of the same object.
  int WriteActions() { return Send("m", R"({"data":{"actions":"TrafficControl"}})"); }
  int WriteSummary(int pods) {
    return Send("m", absl::StrCat(R"({"data":{"summary":")", pods, "\"}}"));
  }
  // As upstream does, which writes no actions.
  void PutSummary(int pods) {
    Object map = Map("m", "a");
    map.Set({"data", "summary"}, absl::StrCat(pods));
    server->Put(kMaps, map);
  }
  // A list of which each loop writes one item; the request has all of them, as they were.
  static std::string Conditions(const std::string& ready, const std::string& synced) {
    return absl::StrCat(R"({"status":{"conditions":[{"type":"Ready","status":")", ready,
                        R"("},{"type":"Synced","status":")", synced, R"("}]}})");
  }
  void PutConditions(const std::string& ready, const std::string& synced) {
    Object map = Map("m", "a");
    const json::Value status = json::Parse(Conditions(ready, synced)).value();
    map.Set({"status"}, status["status"]);
    server->Put(kMaps, map);
  }
  void PassHold() {
    clock.Advance(Shadow::kHold);
    shadow->Judge(stop);
  }
};

}  // namespace

TEST_CASE_METHOD(RecordsFixture, "A write that is expected says why, and is counted") {
  shadow->ExpectMends({{.gvk = kMaps.gvk, .subresource = "", .field = "data.act", .why = "moved"}});
  PutSummary(1);
  CHECK(WriteActions() == 200);
  CHECK(WriteSummary(2) == 200);
  CHECK(Send("m", R"({"data":{"actions":"None","summary":"3"}})") == 200);
  clock.Advance(Shadow::kHold);
  Round();
  shadow->Judge(stop);
  REQUIRE(Count("outstanding") > Count("mends"));
  CHECK(Count("mends") == 1);
  for (const json::Value& write : Page()["writes"].items()) {
    CHECK(write["why"].AsString() == (write["fields"] == "data.actions" ? "moved" : ""));
  }
}

TEST_CASE_METHOD(RecordsFixture, "A write stays due when another loop's of the object is made") {
  PutSummary(1);
  CHECK(WriteActions() == 200);
  CHECK(WriteSummary(2) == 200);
  CHECK(Count("held") == 2);
  PutSummary(2);
  shadow->Judge(stop);
  CHECK(Count("held") == 1);
  clock.Advance(Shadow::kHold);
  Round();
  shadow->Judge(stop);
  REQUIRE(Count("outstanding") == 1);
  CHECK(Page()["writes"].At(0)["fields"].AsString() == "data.actions");
}

// A loop that writes every ten seconds, and upstream, which makes each of these writes.
TEST_CASE_METHOD(RecordsFixture, "A loop that writes often does not hide one that writes once") {
  const tests::CapturedStderr log;
  bool in_round = false, was_zero = false;
  base::SteadyTime began;
  PutSummary(0);
  WriteActions();
  for (int second = 1; second <= 300; ++second) {
    clock.Advance(absl::Seconds(1));
    if (second % 10 == 5) WriteSummary(second);
    if (second % 10 == 9) PutSummary(second - 4);
    if (second % 5 != 0) continue;
    shadow->Judge(stop);
    if (in_round && clock.SteadyNow() - began >= absl::Seconds(30)) {
      shadow->EndRound();
      in_round = false;
    } else if (!in_round && (shadow->rounds() == 0 || shadow->NeedsRound())) {
      in_round = true;
      began = clock.SteadyNow();
      shadow->BeginRound();
      WriteActions();
    }
    was_zero = was_zero || (Count("held") == 0 && Count("outstanding") == 0);
  }
  CHECK_FALSE(was_zero);
  CHECK(Count("rounds") > 0);
  CHECK(Count("outstanding") == 1);
}

TEST_CASE_METHOD(RecordsFixture, "A write of other fields is held and confirmed by itself") {
  PutSummary(1);
  WriteActions();
  clock.Advance(Shadow::kHold);
  Round();
  shadow->Judge(stop);
  REQUIRE(Count("outstanding") == 1);
  WriteSummary(2);
  shadow->Judge(stop);
  CHECK(Count("outstanding") == 1);
  CHECK(Count("held") == 1);
  PassHold();
  CHECK(Count("outstanding") == 1);
  CHECK(shadow->NeedsRound());
}

TEST_CASE_METHOD(RecordsFixture, "A value that changes from pass to pass is one write") {
  const tests::CapturedStderr log;
  PutSummary(0);
  for (int pods = 1; pods <= 30; ++pods) {
    clock.Advance(absl::Seconds(1));
    WriteSummary(pods);
    shadow->Judge(stop);
    CHECK(Count("held") == 1);
  }
  clock.Advance(absl::Seconds(1));
  shadow->BeginRound();
  WriteSummary(31);
  shadow->EndRound();
  shadow->Judge(stop);
  REQUIRE(Count("outstanding") == 1);
  CHECK(Count("held") == 0);
  CHECK(Page()["writes"].At(0)["attempts"].AsInt() == 31);
}

TEST_CASE_METHOD(RecordsFixture, "Each item of a list that has names is a field of its own") {
  PutConditions("False", "False");
  CHECK(Send("m", Conditions("True", "False")) == 200);
  CHECK(Send("m", Conditions("False", "True")) == 200);
  CHECK(Count("held") == 2);
  PutConditions("False", "True");  // Upstream makes the second one.
  shadow->Judge(stop);
  CHECK(Count("held") == 1);
  PutConditions("Unknown", "True");  // Somebody else has written it.
  shadow->Judge(stop);
  CHECK(Count("held") == 0);
}

TEST_CASE_METHOD(RecordsFixture, "What guards a list in a JSON patch does not settle a write") {
  PutConditions("False", "False");
  const ObjectPtr there = Share(server->Find(kMaps, {"ns", "m"}));
  Object after = *there;
  after.Set({"list"}, json::Parse(R"([{"name":"a"}])").value());
  const ObjectPtr before = Share(server->Put(kMaps, after));
  after.Set({"list"}, json::Parse(R"([{"name":"a"},{"name":"b"}])").value());
  CHECK(GuardedUpdate(cluster, kMaps, {.before = before, .after = after}, stop).ok());
  CHECK(Count("held") == 1);
  after.Set({"list"}, json::Parse(R"([{"name":"a"},{"name":"c"}])").value());
  server->Put(kMaps, after);
  shadow->Judge(stop);
  CHECK(Count("held") == 1);
  after.Set({"list"}, json::Parse(R"([{"name":"a"},{"name":"b"},{"name":"c"}])").value());
  server->Put(kMaps, after);
  shadow->Judge(stop);
  CHECK(Count("held") == 0);
}

TEST_CASE_METHOD(RecordsFixture, "An attempt that is answered says nothing about another loop's") {
  PutSummary(1);
  FailReads(403);
  CHECK(WriteActions() == 403);
  CHECK(WriteSummary(2) == 403);
  CHECK(Count("unanswered") == 2);
  server->EndFailures();
  CHECK(WriteSummary(1) == 200);  // Nothing to change.
  CHECK(Count("unanswered") == 1);
  shadow->Judge(stop);
  CHECK(Count("unanswered") == 0);
  CHECK(Count("held") == 1);
}

TEST_CASE_METHOD(RecordsFixture, "A write is not withdrawn while any attempt at it has no answer") {
  PutSummary(1);
  WriteActions();
  clock.Advance(Shadow::kHold);
  shadow->BeginRound();
  FailReads(403);
  CHECK(Send("m", R"({"data":{"actions":"TrafficControl","summary":"2"}})") == 403);
  clock.Advance(absl::Seconds(1));
  shadow->EndRound();
  CHECK(Count("held") == 1);
  server->EndFailures();
}

TEST_CASE_METHOD(RecordsFixture,
                 "What all writes hold together has a limit, and the rest is counted") {
  const tests::CapturedStderr log;
  constexpr size_t kBody = 1 << 20;
  const auto create = [&](size_t number, size_t bytes) {
    const HttpRequest request{
        .method = "POST",
        .path = "/api/v1/namespaces/ns/configmaps",
        .content_type = "application/json",
        .body = absl::StrCat(R"({"kind":"ConfigMap","metadata":{"name":"m)", number,
                             R"("},"data":{"k":")", std::string(bytes, 'x'), "\"}}")};
    REQUIRE(loops->Send(request, stop)->code == 201);
  };
  constexpr size_t kMost = Shadow::kMostBytes / kBody - 1;
  for (size_t i = 0; i < kMost + 4; ++i) create(i, kBody);
  CHECK(Count("held") == static_cast<int64_t>(kMost));
  CHECK(Count("notListed") == 4);
  create(0, 2 * kBody);  // The older content stays, and so does what is due.
  CHECK(Count("held") == static_cast<int64_t>(kMost));
  CHECK(Count("notListed") == 5);
  create(kMost + 4, 10);
  CHECK(Count("held") == static_cast<int64_t>(kMost) + 1);
  clock.Advance(absl::Seconds(1));
  shadow->BeginRound();
  shadow->EndRound();
  CHECK(Count("held") == 0);
  for (size_t i = 0; i < kMost; ++i) create(kMost + i, kBody);
  CHECK(Count("held") == static_cast<int64_t>(kMost));
  CHECK(Count("notListed") == 0);
}

TEST_CASE_METHOD(RecordsFixture, "Requests whose object cannot be read have the same limit") {
  counter->without_path = true;
  counter->cut_off = true;
  constexpr size_t kBody = 1 << 20;
  for (size_t i = 0; i < 70; ++i) {
    Send(absl::StrCat("m", i), absl::StrCat(R"({"data":{"k":")", std::string(kBody, 'x'), "\"}}"));
  }
  CHECK(Count("unanswered") == 63);
  CHECK(Count("notListed") == 7);
}

TEST_CASE_METHOD(RecordsFixture, "Texts of a write are cut") {
  const tests::CapturedStderr log;
  PutSummary(1);
  std::string fields;
  for (int i = 0; i < 15; ++i) {
    absl::StrAppend(&fields, i == 0 ? "" : ",", "\"", std::string(1000, 'f'), i, "\":\"",
                    std::string(10000, 'v'), "\"");
  }
  CHECK(Send("m", absl::StrCat("{\"data\":{", fields, "}}")) == 200);
  REQUIRE(Outstanding().size() == 1);
  const json::Value write = Page()["writes"].At(0);
  CHECK(write["fields"].AsString().size() <= 1000);
  CHECK(write["patch"].AsString().size() <= 8000);
}

TEST_CASE_METHOD(RecordsFixture, "A page counts all writes and lists a thousand") {
  const tests::CapturedStderr log;
  constexpr int kWrites = Shadow::kMostListed + 5;
  for (int i = 0; i < kWrites; ++i) {
    CHECK(cluster.Create(kMaps, Map(absl::StrCat("m", i), "a"), stop).ok());
  }
  clock.Advance(Shadow::kHold);
  Round();
  for (int i = 0; i < kWrites; i += Shadow::kMostReads) {
    clock.Advance(Shadow::kPeriod);
    shadow->Judge(stop);
  }
  CHECK(Count("outstanding") == kWrites);
  CHECK(Page()["writes"].size() == Shadow::kMostListed);
}

TEST_CASE_METHOD(RecordsFixture, "A page has what fails") {
  const json::Value page =
      json::Parse(shadow->Page({.count = 7, .some = {{"detector", "ns/a", "no answer"}}})).value();
  CHECK(page["failing"].AsInt() == 7);
  REQUIRE(page["failures"].size() == 1);
  CHECK(page["failures"].At(0)["controller"].AsString() == "detector");
  CHECK(page["failures"].At(0)["key"].AsString() == "ns/a");
  CHECK(page["failures"].At(0)["error"].AsString() == "no answer");
  CHECK(Count("failing") == 0);
  shadow->ShowFailing(7);
  CHECK(registry.GetGauge("karmada_shadow_failing", "").Value() == 7);
}

}  // namespace kube
