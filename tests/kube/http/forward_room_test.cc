// When an upgraded connection has room for more.
#include <atomic>
#include <catch2/catch.hpp>
#include <string>

#include "absl/synchronization/notification.h"
#include "base/http_server.h"
#include "kube/http/forwarder.h"
#include "tests/kube/http/test_server.h"

namespace {

TEST_CASE("an upgraded connection has room when everything has been sent, and not before") {
  std::shared_ptr<base::HttpTunnel> kept;
  tests::TestServer member(
      [&](const base::HttpRequest&, const std::shared_ptr<base::HttpResponder>& responder) {
        kept = responder->Upgrade({.code = 101, .headers = {{"Upgrade", "websocket"}}});
      });
  const auto forwarder = kube::Forwarder::Create(member.Config());
  REQUIRE(forwarder.ok());
  std::atomic<bool> had_room = true;
  absl::Notification room, ended;
  const kube::ForwardStreamPtr forward =
      (*forwarder)
          ->Forward({.method = "GET", .path = "/exec", .upgrade = "websocket"},
                    {.on_head =
                         [&](const kube::ForwardStreamPtr& stream, const kube::ForwardHead&) {
                           // On the thread that sends, so that it cannot have been sent yet.
                           stream->Write("x");
                           had_room = stream->HasRoom();
                           stream->OnRoom([&] { room.Notify(); });
                         },
                     .on_data = [](const kube::ForwardStreamPtr&, const std::string&) {},
                     .on_end = [&](const absl::Status&) { ended.Notify(); }});
  CHECK(room.WaitForNotificationWithTimeout(absl::Minutes(1)));
  CHECK_FALSE(had_room);
  CHECK(forward->HasRoom());
  forward->EndWriting();
  CHECK(ended.WaitForNotificationWithTimeout(absl::Minutes(1)));
}

}  // namespace
