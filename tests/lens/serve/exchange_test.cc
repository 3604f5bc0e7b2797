// One question: its deadline, the bound of its answer, and what becomes of one that is dropped.
#include "lens/serve/exchange.h"

#include <catch2/catch.hpp>
#include <fstream>
#include <iterator>
#include <memory>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "base/clock.h"
#include "lens/serve/bounds.h"
#include "tests/support/eventually.h"

namespace lens::serve {
namespace {

using Catch::Contains;

struct Responder : base::HttpResponder {
  void Send(base::HttpResponse response) override { sent.push_back(std::move(response)); }
  std::shared_ptr<base::HttpStream> StartStream(base::HttpResponse) override { return nullptr; }
  void Abort() override {}
  void OnClosed(std::function<void()> callback) override { on_closed = std::move(callback); }

  std::vector<base::HttpResponse> sent;
  std::function<void()> on_closed;
};

struct OneQuestion {
  base::Timers timers{base::RealClock()};
  base::StopSource server;
  std::shared_ptr<Responder> responder = std::make_shared<Responder>();
  std::unique_ptr<Exchange> exchange = Make("GET");

  std::unique_ptr<Exchange> Make(const std::string& method) {
    base::HttpRequest request;
    request.method = method;
    return std::make_unique<Exchange>(std::move(request), responder, timers, server.get_token());
  }
};

}  // namespace

TEST_CASE_METHOD(OneQuestion,
                 "Serve: an answer that is too long is an error that says to ask for less") {
  exchange->Send(json::Value::Object({{"a", std::string(kMostAnswerBytes, 'x')}}));
  REQUIRE(responder->sent.size() == 1);
  CHECK(responder->sent[0].code == 500);
  CHECK_THAT(responder->sent[0].body, Contains("ask for less"));
}

TEST_CASE_METHOD(OneQuestion,
                 "Serve: a question that nobody has room for is answered all the same") {
  exchange.reset();
  REQUIRE(responder->sent.size() == 1);
  CHECK(responder->sent[0].code == 429);
  exchange = Make("GET");
  exchange->Answered();
  exchange.reset();
  CHECK(responder->sent.size() == 1);
}

TEST_CASE_METHOD(OneQuestion, "Serve: an answer that is late says so") {
  exchange->EndAfter(absl::Milliseconds(1));
  CHECK(tests::Eventually([&] { return exchange->stop().stop_requested(); }));
  exchange->Send(absl::CancelledError("stopped"));
  CHECK(responder->sent[0].code == 504);
  CHECK_THAT(responder->sent[0].body, Contains("not complete within 1ms"));
}

TEST_CASE_METHOD(OneQuestion,
                 "Serve: nothing is read on for a client that has gone, or at the end") {
  responder->on_closed();
  CHECK(exchange->stop().stop_requested());
  exchange->Send(json::Value());
  exchange = Make("HEAD");
  server.request_stop();
  CHECK(exchange->stop().stop_requested());
  exchange->Send(json::Value::Object());
  CHECK(responder->sent.back().body.empty());
}

TEST_CASE_METHOD(OneQuestion, "Serve: who waits for somebody else's answer is told of the end") {
  int ends = 0;
  exchange->OnEnd([&] { ++ends; });
  CHECK(ends == 0);
  responder->on_closed();
  CHECK(ends == 1);
  exchange = Make("GET");
  server.request_stop();
  exchange->OnEnd([&] { ++ends; });
  CHECK(ends == 2);
}

TEST_CASE("Serve: the documents name the bounds that there are") {
  std::ifstream file("docs/serve.md");
  const std::string page((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
  const auto seconds = [](absl::Duration d) { return absl::StrCat(absl::ToInt64Seconds(d), " s"); };
  for (const std::string& part :
       {absl::StrCat("| ", kMostViewers, "; forgotten after five minutes |"),
        absl::StrCat("| ", kMostFleetBytes >> 20, " MiB, the last answer"),
        absl::StrCat("three times as long as that took, ", seconds(kShareAtLeast), " to ",
                     seconds(kShareAtMost), ", and no longer than until the fleet is read again; ",
                     kMostSharedBytes >> 20, " MiB of all viewers"),
        absl::StrCat("| connections | ", kMostConnections, " |"),
        absl::StrCat("| ", kMostStreams, " in all, ", kMostStreamsOfViewer,
                     " for each token or user; ", kMostStreamBacklog >> 10, " KiB unread |"),
        absl::StrCat("| ", kMostOutputBytes >> 20, " MiB |"),
        absl::StrCat(kMostHeaderBytes >> 10, " KiB (", kMostNamedHeaderBytes >> 10,
                     " KiB behind the API server, which adds groups), ", kMostTargetBytes >> 10,
                     " KiB, ", kMostTokenBytes >> 10, " KiB; bodies"),
        absl::StrCat("| one answer | ", kMostAnswerBytes >> 20, " MiB |"),
        absl::StrCat(kThreadsForOne, " about one object, ", kThreadsForLists,
                     " about all of them, ", kThreadsForWhatIf, " simulation; ", kMostWaiting,
                     " wait"),
        absl::StrCat(seconds(kPatienceForOne), ", ", seconds(kPatienceForLists), ", ",
                     seconds(kPatienceForWhatIf), " for these three; ", seconds(kPatienceForToken),
                     " for a token"),
        absl::StrCat("| selectors that are looked up because nothing is claimed by them | ",
                     kMostSelectorsAsked, ", for a second |"),
        absl::StrCat("| ", kMostTemplatesOfGroup, ", ", kMostEvents, ", ", kMostFound,
                     "; messages have ")}) {
    INFO(part);
    CHECK(absl::StrContains(page, part));
  }
}

}  // namespace lens::serve
