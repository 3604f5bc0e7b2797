// The guard of responders when its functions meet.
#include "kube/aggregation/guarded_responder.h"

#include <catch2/catch.hpp>
#include <functional>
#include <memory>

namespace kube::aggregation {
namespace {

// What the HTTP server would do.
class Raw : public base::HttpResponder {
 public:
  struct Stream : base::HttpStream {
    bool Write(std::string) override { return !aborted; }
    void Close() override {}
    void Abort() override { aborted = true; }
    void OnClosed(std::function<void()> callback) override { on_closed = std::move(callback); }

    bool aborted = false;
    std::function<void()> on_closed;
  };

  void Send(base::HttpResponse) override {}
  std::shared_ptr<base::HttpStream> StartStream(base::HttpResponse) override {
    if (meanwhile) meanwhile();
    return stream;
  }
  void Abort() override {}

  const std::shared_ptr<Stream> stream = std::make_shared<Stream>();
  std::function<void()> meanwhile;  // Is called while a stream begins.
};

GuardedResponder::Hooks NoHooks() {
  return {.complete = [](base::HttpResponse&) {},
          .started = [](int) {},
          .finished = [](int) {},
          .deliver = [](base::HttpResponse answer,
                        const GuardedResponder::SendFn& send) { send(std::move(answer)); },
          .closed = [] {}};
}

TEST_CASE("a stream that begins while its deadline comes is cut, too") {
  const auto raw = std::make_shared<Raw>();
  GuardedResponder guarded(raw, NoHooks());
  raw->meanwhile = [&] { guarded.Expire({.code = 504}); };
  const auto stream = guarded.StartStream({});
  CHECK(raw->stream->aborted);
  CHECK_FALSE(stream->Write("x"));
}

TEST_CASE("who has asked to be called at the end before its stream began is called") {
  const auto raw = std::make_shared<Raw>();
  GuardedResponder guarded(raw, NoHooks());
  int first = 0, second = 0;
  guarded.OnClosed([&] { ++first; });
  const auto stream = guarded.StartStream({});
  SECTION("as it was set") {
    raw->stream->on_closed();
    CHECK(first == 1);
  }
  SECTION("or in another way since then") {
    stream->OnClosed([&] { ++second; });
    raw->stream->on_closed();
    CHECK(first == 0);
    CHECK(second == 1);
  }
}

}  // namespace
}  // namespace kube::aggregation
