#include "kube/aggregation/service_end.h"

#include <atomic>
#include <catch2/catch.hpp>
#include <memory>
#include <thread>

#include "absl/strings/str_cat.h"
#include "tests/kube/aggregation/keeping_server.h"

namespace {

using tests::AggregatedServer;
using tests::Answer;
using tests::Kept;
using tests::kPodsPath;
using Server = tests::KeepingServer;

TEST_CASE("the end of the service: streams end, answers are finished, others are sent away") {
  Server s;
  const auto watcher = s.Connect();
  s.Send(*watcher, absl::StrCat(kPodsPath, "?watch=true"));
  Kept::Item watch = s.kept.Take();
  const auto events = watch.responder->StartStream({});
  const auto reader = s.Connect();
  s.Send(*reader, kPodsPath);
  Kept::Item read = s.kept.Take();

  s.server.chain().BeginDrain();
  CHECK(watch.request.stop.stop_requested());
  CHECK_FALSE(read.request.stop.stop_requested());
  const auto late = s.Connect();
  const Answer refused = AggregatedServer::Ask(*late);
  CHECK(refused.code == 503);
  CHECK(refused.message() == "apiserver is shutting down");
  CHECK(refused.headers.at("retry-after") == "1");
  const auto probe = s.Connect();
  s.Send(*probe, "/readyz");
  s.kept.Take().responder->Send({.body = "no"});
  CHECK(probe->ReadResponse().body == "no");

  CHECK_FALSE(s.server.chain().AwaitIdle(absl::ZeroDuration()));
  events->Close();
  read.responder->Send({.body = "{}"});
  CHECK(reader->ReadResponse().code == 200);
  CHECK(s.server.chain().AwaitIdle(absl::Hours(1)));
}

TEST_CASE("a service ends when its last answer has been sent") {
  Server s;
  kube::aggregation::HealthEndpoints health;
  const auto watcher = s.Connect();
  s.Send(*watcher, absl::StrCat(kPodsPath, "?watch=true"));
  Kept::Item watch = s.kept.Take();
  const auto events = watch.responder->StartStream({});
  const base::StopCallback close(watch.request.stop, [&] { events->Close(); });
  const auto reader = s.Connect();
  s.Send(*reader, kPodsPath);
  Kept::Item read = s.kept.Take();

  base::StopSource hurry;
  std::atomic<int> ended = -1;
  std::thread ending([&] {
    ended = kube::aggregation::EndService({.health = health,
                                           .chain = s.server.chain(),
                                           .server = s.server.http(),
                                           .delay = absl::Seconds(10)},
                                          s.clock, hurry.get_token());
  });
  // Waits out the delay: not ready, and still at work.
  s.clock.AwaitWaiters(2);  // And the thread for deadlines.
  base::HttpRequest readyz;
  readyz.path = "/readyz";
  CHECK(health.Answer(readyz).code == 500);
  CHECK_FALSE(watch.request.stop.stop_requested());
  s.clock.Advance(absl::Seconds(10));
  watcher->ReadHead();
  CHECK(watcher->ReadChunk().empty());
  CHECK(ended == -1);
  read.responder->Send({.body = "{}"});
  CHECK(reader->ReadResponse().body == "{}");
  reader->Disconnect();
  watcher->Disconnect();
  ending.join();
  CHECK(ended == 1);
}

TEST_CASE("a service in a hurry breaks off what does not end") {
  Server s;
  kube::aggregation::HealthEndpoints health;
  const auto reader = s.Connect();
  s.Send(*reader, kPodsPath);
  Kept::Item read = s.kept.Take();
  base::StopSource hurry;
  std::atomic<int> ended = -1;
  std::thread ending([&] {
    ended = kube::aggregation::EndService(
        {.health = health, .chain = s.server.chain(), .server = s.server.http()}, s.clock,
        hurry.get_token());
  });
  hurry.request_stop();
  CHECK(reader->ReadToEnd().empty());
  ending.join();
  CHECK(ended == 0);
}

}  // namespace
