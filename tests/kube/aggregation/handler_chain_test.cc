// The way of a request: limits, deadlines, errors.
#include "kube/aggregation/handler_chain.h"

#include <catch2/catch.hpp>
#include <optional>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "absl/synchronization/notification.h"
#include "kube/aggregation/sent_answers.h"
#include "tests/kube/aggregation/keeping_server.h"
#include "tests/support/eventually.h"
#include "tests/support/gunzip.h"

namespace {

using kube::aggregation::ApiRequest;
using kube::aggregation::RequestLength;
using tests::AggregatedServer;
using tests::Answer;
using tests::Kept;
using tests::kPodsPath;
using Server = tests::KeepingServer;

TEST_CASE("each answer has its audit id and must not be cached") {
  Server s({}, /*keep=*/false);
  const auto client = s.Connect();
  const Answer given = AggregatedServer::Ask(*client, "Audit-ID: abc-1\r\n");
  CHECK(given.headers.at("audit-id") == "abc-1");
  CHECK(given.headers.at("cache-control") == "no-cache, private");
  const Answer made = AggregatedServer::Ask(*client);
  CHECK(made.headers.at("audit-id").size() == 36);
  const std::string long_id(65, 'x');
  CHECK(AggregatedServer::Ask(*client, "Audit-ID: " + long_id + "\r\n").headers.at("audit-id") !=
        long_id);
}

TEST_CASE("a request that takes too long gets a timeout, and its handler is asked to stop") {
  Server s;
  const auto client = s.Connect();
  s.Send(*client, kPodsPath);
  Kept::Item item = s.kept.Take();
  CHECK(item.request.deadline == s.clock.SteadyNow() + absl::Seconds(60));
  CHECK(s.InFlight("readOnly") == 1);
  s.clock.AwaitWaiters(1);
  s.clock.Advance(absl::Seconds(60));
  const tests::RawResponse response = client->ReadResponse();
  CHECK(response.code == 504);
  CHECK(response.body.find("Timeout: request did not complete within the allotted timeout") !=
        std::string::npos);
  CHECK(item.request.stop.stop_requested());
  // The handler goes on, so it still counts; what it sends is dropped.
  CHECK(s.InFlight("readOnly") == 1);
  item.responder->Send({.body = "late"});
  CHECK(s.InFlight("readOnly") == 0);
  // The connection is still good.
  s.Send(*client, kPodsPath);
  s.kept.Take().responder->Send({.body = "{}"});
  CHECK(client->ReadResponse().body == "{}");
}

TEST_CASE("a client may ask for less time, not for more") {
  Server s;
  const auto client = s.Connect();
  const auto deadline = [&](const std::string& timeout) {
    s.Send(*client, absl::StrCat(kPodsPath, "?timeout=", timeout));
    Kept::Item item = s.kept.Take();
    item.responder->Send({});
    client->ReadResponse();
    return item.request.deadline - s.clock.SteadyNow();
  };
  CHECK(deadline("5s") == absl::Seconds(5));
  CHECK(deadline("1h") == absl::Seconds(60));
  CHECK(deadline("0s") == absl::Seconds(60));
  CHECK(deadline("-3s") == absl::Seconds(60));
  const auto refusal = [&](const std::string& timeout) {
    s.Send(*client, absl::StrCat(kPodsPath, "?timeout=", timeout));
    const tests::RawResponse refused = client->ReadResponse();
    CHECK(refused.code == 400);
    return (*json::Parse(refused.body))["message"].ToString();
  };
  const std::string invalid = "invalid timeout specified in the request URL - time: ";
  CHECK(refusal("soon") == invalid + "invalid duration \"soon\"");
  CHECK(refusal("inf") == invalid + "invalid duration \"inf\"");
  CHECK(refusal("9999999h") == invalid + "invalid duration \"9999999h\"");
  CHECK(refusal("30") == invalid + "missing unit in duration \"30\"");
}

TEST_CASE("an answer in pieces is broken off at the deadline, a watch is not") {
  Server s;
  const auto client = s.Connect();
  s.Send(*client, kPodsPath);
  Kept::Item list = s.kept.Take();
  const auto stream = list.responder->StartStream({});
  CHECK(stream->Write("some"));
  client->ReadHead();
  CHECK(client->ReadChunk() == "some");
  const auto watcher = s.Connect();
  s.Send(*watcher, absl::StrCat(kPodsPath, "?watch=true"));
  Kept::Item watch = s.kept.Take();
  CHECK(watch.request.deadline == base::SteadyTime::InfiniteFuture());
  const auto events = watch.responder->StartStream({});
  s.clock.AwaitWaiters(1);
  s.clock.Advance(absl::Seconds(61));
  CHECK(client->ReadToEnd().empty());
  CHECK(tests::Eventually([&] { return s.InFlight("readOnly") == 0; }));
  CHECK(list.request.stop.stop_requested());
  CHECK(events->Write("event"));
  watcher->ReadHead();
  CHECK(watcher->ReadChunk() == "event");
  CHECK_FALSE(watch.request.stop.stop_requested());
}

TEST_CASE(
    "an answer is broken off at the deadline when its handler has let go of the request, too") {
  Server s;
  const auto client = s.Connect();
  s.Send(*client, kPodsPath);
  Kept::Item list = s.kept.Take();
  const auto stream = list.responder->StartStream({});
  list = {};
  CHECK(stream->Write("some"));
  client->ReadHead();
  CHECK(client->ReadChunk() == "some");
  s.clock.AwaitWaiters(1);
  s.clock.Advance(absl::Seconds(61));
  CHECK(client->ReadToEnd().empty());
  CHECK_FALSE(stream->Write("more"));
}

TEST_CASE("an answer that is being sent takes nobody's place; of too many the oldest ends") {
  AggregatedServer::Options options;
  options.max_in_flight = 2;
  Server s(options);
  std::vector<std::unique_ptr<tests::TlsRawClient>> clients;
  std::vector<std::shared_ptr<base::HttpStream>> streams;
  const auto begin = [&] {
    clients.push_back(s.Connect());
    s.Send(*clients.back(), kPodsPath);
    streams.push_back(s.kept.Take().responder->StartStream({}));
    clients.back()->ReadHead();
    CHECK(s.InFlight("readOnly") == 0);
  };
  // Those that begin at the same time do not end one another.
  for (int i = 0; i < 3; ++i) begin();
  CHECK(streams[0]->Write("first"));
  CHECK(clients[0]->ReadChunk() == "first");
  s.clock.Advance(kube::aggregation::SentAnswers::kLeast);
  begin();
  CHECK_FALSE(streams[0]->Write("more"));
  CHECK(clients[0]->ReadToEnd().empty());
  for (size_t i = 1; i < streams.size(); ++i) {
    CHECK(streams[i]->Write("later"));
    CHECK(clients[i]->ReadChunk() == "later");
  }
}

TEST_CASE("a patient request counts and has only the client's deadline") {
  AggregatedServer::Options options;
  options.length = [](const kube::server::RequestInfo&, const base::HttpRequest&) {
    return RequestLength::kPatient;
  };
  Server s(options);
  const auto client = s.Connect();
  s.Send(*client, kPodsPath);
  Kept::Item item = s.kept.Take();
  CHECK(item.request.deadline == base::SteadyTime::InfiniteFuture());
  CHECK(s.InFlight("readOnly") == 1);
  item.responder->Send({});
  client->ReadResponse();
  s.Send(*client, absl::StrCat(kPodsPath, "?timeout=2m"));
  Kept::Item other = s.kept.Take();
  CHECK(other.request.deadline == s.clock.SteadyNow() + absl::Minutes(2));
  other.responder->Send({});
}

TEST_CASE("who goes away stops the handler") {
  Server s;
  auto client = s.Connect();
  s.Send(*client, kPodsPath);
  Kept::Item item = s.kept.Take();
  CHECK_FALSE(item.request.stop.stop_requested());
  client.reset();
  CHECK(tests::Eventually([&] { return item.request.stop.stop_requested(); }));

  auto watcher = s.Connect();
  s.Send(*watcher, absl::StrCat(kPodsPath, "?watch=1"));
  Kept::Item watch = s.kept.Take();
  const auto events = watch.responder->StartStream({});
  bool closed = false;
  absl::Mutex mu;
  events->OnClosed([&] {
    absl::MutexLock lock(&mu);
    closed = true;
  });
  watcher.reset();
  CHECK(tests::Eventually([&] {
    absl::MutexLock lock(&mu);
    return closed && watch.request.stop.stop_requested();
  }));
}

TEST_CASE("beyond their limits, reads and writes are put off; masters and watches are not") {
  AggregatedServer::Options options;
  options.max_in_flight = 1;
  options.max_mutating_in_flight = 1;
  Server s(options);
  const auto first = s.Connect();
  s.Send(*first, kPodsPath);
  Kept::Item read = s.kept.Take();

  const auto second = s.Connect();
  s.Send(*second, kPodsPath);
  const tests::RawResponse refused = second->ReadResponse();
  CHECK(refused.code == 429);
  CHECK(refused.headers.at("retry-after") == "1");
  CHECK(refused.body.find("Too many requests, please try again later.") != std::string::npos);
  CHECK(refused.body.find("(--max-requests-inflight)") != std::string::npos);
  CHECK(s.Refused("reads") == 1);
  CHECK(s.Refused("writes") == 0);

  s.Send(*second, kPodsPath, "DELETE");
  Kept::Item write = s.kept.Take();
  CHECK(s.InFlight("mutating") == 1);
  const auto third = s.Connect();
  s.Send(*third, kPodsPath, "DELETE");
  CHECK(third->ReadResponse().code == 429);
  CHECK(s.Refused("writes") == 1);
  s.Send(*third, absl::StrCat(kPodsPath, "?watch=true"));
  s.kept.Take().responder->Send({});
  CHECK(third->ReadResponse().code == 200);

  const auto master = s.server.Connect(AggregatedServer::Issue(
      *s.server.clients, {.common_name = "root", .organizations = {"system:masters"}}));
  s.Send(*master, kPodsPath);
  s.kept.Take().responder->Send({});
  CHECK(master->ReadResponse().code == 200);

  read.responder->Send({});
  first->ReadResponse();
  s.Send(*first, kPodsPath);
  s.kept.Take().responder->Send({});
  CHECK(first->ReadResponse().code == 200);
  write.responder->Send({});
}

TEST_CASE("an exception and a handler that does not answer end one request only") {
  Server s({}, /*keep=*/false);
  int calls = 0;
  s.server.handler.handling = [&](ApiRequest, std::shared_ptr<base::HttpResponder> responder) {
    if (++calls == 1) throw std::runtime_error("a secret detail");
    if (calls == 2) throw 1;
    if (calls == 4) responder->Send({.body = "{}"});
  };
  const auto client = s.Connect();
  const Answer broken = AggregatedServer::Ask(*client);
  CHECK(broken.code == 500);
  CHECK(broken.body["reason"].AsString() == "InternalError");
  CHECK(broken.text.find("secret") == std::string::npos);
  CHECK(AggregatedServer::Ask(*client).code == 500);
  CHECK(AggregatedServer::Ask(*client).code == 0);
  const auto again = s.Connect();
  CHECK(AggregatedServer::Ask(*again).code == 200);
  CHECK(s.InFlight("readOnly") == 0);
}

TEST_CASE("handlers that may block do not run on the network's thread") {
  Server s({}, /*keep=*/false);
  std::vector<std::thread::id> threads;
  absl::Notification release;
  s.server.handler.handling = [&](ApiRequest request,
                                  std::shared_ptr<base::HttpResponder> responder) {
    if (request.info.key.name == "slow") release.WaitForNotification();
    responder->Send({.body = "{}"});
  };
  const auto slow = s.Connect();
  s.Send(*slow, absl::StrCat(kPodsPath, "/slow"));
  const auto quick = s.Connect();
  CHECK(AggregatedServer::Ask(*quick).code == 200);
  release.Notify();
  CHECK(slow->ReadResponse().code == 200);
}

TEST_CASE("a handler may let go of a request after the chain is gone") {
  std::optional<Kept::Item> bounded, watch;
  std::shared_ptr<base::HttpStream> events;
  Server s;
  const auto reader = s.Connect(), watcher = s.Connect();
  reader->Send(
      absl::StrCat("GET ", kPodsPath, " HTTP/1.1\r\nHost: a\r\nAccept-Encoding: gzip\r\n\r\n"));
  bounded = s.kept.Take();
  s.Send(*watcher, absl::StrCat(kPodsPath, "?watch=true"));
  watch = s.kept.Take();
  events = watch->responder->StartStream({});
  s.server.Stop();  // Destroys the chain, too.
  CHECK(bounded->request.stop.stop_requested());
  CHECK(watch->request.stop.stop_requested());
  bounded->responder->Send({.body = std::string(1 << 20, 'x')});
  bounded.reset();
  events->Close();
  events.reset();
  watch.reset();
}

TEST_CASE("headers that are too large do not reach the chain") {
  Server s({}, /*keep=*/false);
  const auto client = s.Connect();
  const Answer answer =
      AggregatedServer::Ask(*client, "X-Remote-Group: " + std::string(40 << 10, 'x') + "\r\n");
  CHECK(answer.code == 431);
  CHECK(s.server.reviews->count() == 0);
}

TEST_CASE("what cannot be authorized is not executed, and says so in its audit id only") {
  Server s;
  s.server.reviews->FailNext({400});
  const auto client = s.Connect();
  const Answer answer = AggregatedServer::Ask(*client);
  CHECK(answer.code == 500);
  CHECK(answer.message() ==
        "Internal error occurred: the request cannot be authorized at the moment");
  s.Send(*client, "/apis");
  s.kept.Take().responder->Send({.code = 404});
  CHECK(client->ReadResponse().code == 404);
  CHECK(s.server.reviews->reviews().back() == "bob get /apis");
}

TEST_CASE("an upgrade passes the chain") {
  Server s;
  const auto client = s.Connect();
  client->Send(
      "GET /api/v1/namespaces/a/pods/web/exec HTTP/1.1\r\nHost: localhost\r\n"
      "Connection: Upgrade\r\nUpgrade: SPDY/3.1\r\n\r\n");
  Kept::Item exec = s.kept.Take();
  CHECK(exec.request.deadline == base::SteadyTime::InfiniteFuture());
  const auto tunnel = exec.responder->Upgrade({.code = 101, .headers = {{"Upgrade", "SPDY/3.1"}}});
  REQUIRE(tunnel != nullptr);
  CHECK(client->ReadHead().code == 101);
  std::string got;
  absl::Mutex mu;
  tunnel->Start({.on_data = [&](std::string bytes) {
    absl::MutexLock lock(&mu);
    got = std::move(bytes);
  }});
  tunnel->Read();
  client->Send("hello");
  CHECK(tests::Eventually([&] {
    absl::MutexLock lock(&mu);
    return got == "hello";
  }));
  s.server.chain().BeginDrain();
  CHECK(exec.request.stop.stop_requested());
  tunnel->Abort();
  CHECK(s.server.chain().AwaitIdle(absl::Hours(1)));
}

TEST_CASE("long answers are compressed for those who take that") {
  Server s({}, /*keep=*/false);
  const auto more = std::make_shared<const std::string>(100 << 10, 'b');
  s.server.handler.handling = [&](ApiRequest request,
                                  std::shared_ptr<base::HttpResponder> responder) {
    base::HttpResponse answer{.body = std::string(100 << 10, 'a')};
    if (request.info.key.name == "long") answer.more_body = {more};
    responder->Send(std::move(answer));
  };
  const auto client = s.Connect();
  const auto ask = [&](const std::string& name, const std::string& accepted) {
    return AggregatedServer::Ask(*client, "Accept-Encoding: " + accepted + "\r\n",
                                 absl::StrCat(kPodsPath, "/", name));
  };
  const Answer packed = ask("long", "deflate, gzip;q=0.5");
  CHECK(packed.headers.at("content-encoding") == "gzip");
  CHECK(packed.headers.at("vary") == "Accept-Encoding");
  CHECK(packed.text.size() < 10000);
  const auto text = tests::Gunzip(packed.text);
  REQUIRE(text.has_value());
  CHECK(*text == std::string(100 << 10, 'a') + *more);
  for (const char* accepted : {"identity", "gzip;q=0", "gzipped"}) {
    CHECK(ask("long", accepted).text.size() == 200 << 10);
  }
  CHECK(ask("short", "gzip").text.size() == 100 << 10);
}

TEST_CASE("the length of requests, and of those inside the path of a proxy") {
  const auto length = [](const std::string& target, const std::string& method = "GET") {
    const bool watch = target.find("?watch=true") != std::string::npos;
    const std::string path = target.substr(0, target.find('?'));
    const kube::server::RequestInfo info = kube::server::ReadRequest(method, path, watch);
    return std::pair(kube::aggregation::LengthOf(info), kube::aggregation::LengthOfForwarded(info));
  };
  using Length = RequestLength;
  const std::string pods = kPodsPath;
  CHECK(length(pods) == std::pair(Length::kBounded, Length::kPatient));
  CHECK(length(pods + "/web") == std::pair(Length::kBounded, Length::kBounded));
  CHECK(length(pods, "DELETE") == std::pair(Length::kBounded, Length::kBounded));
  CHECK(length("/version") == std::pair(Length::kBounded, Length::kBounded));
  for (const std::string& target :
       {pods + "?watch=true", pods + "/web/exec", pods + "/web/log", pods + "/web/attach",
        pods + "/web/portforward", pods + "/web/proxy"}) {
    CHECK(length(target) == std::pair(Length::kLongRunning, Length::kLongRunning));
  }
}

TEST_CASE("selectors with more requirements than may be are refused before anybody is asked") {
  Server s({}, /*keep=*/false);
  const auto client = s.Connect();
  std::string many = "a";
  for (int i = 0; i < 1000; ++i) absl::StrAppend(&many, ",a", i);
  for (const char* selector : {"?labelSelector=", "?watch=true&labelSelector="}) {
    s.Send(*client, absl::StrCat(kPodsPath, selector, many));
    const tests::RawResponse refused = client->ReadResponse();
    CHECK(refused.code == 400);
    CHECK((*json::Parse(refused.body))["message"].ToString().find("1001 requirements") !=
          std::string::npos);
  }
  CHECK(s.server.reviews->count() == 0);
  // A get has no selectors.
  s.Send(*client, absl::StrCat(kPodsPath, "/web?labelSelector=", many));
  CHECK(client->ReadResponse().code == 200);
}

TEST_CASE("a request to a proxy is authorized by its outer path") {
  Server s({}, /*keep=*/false);
  const auto client = s.Connect();
  s.server.Ask(*client, "", "/apis/search.karmada.io/v1alpha1/proxying/karmada/proxy/api/v1/pods");
  CHECK(s.server.reviews->reviews().back() == "bob get proxying/proxy/karmada");
}

}  // namespace
