// What lists and watches keep while they are sent.
#include <algorithm>
#include <catch2/catch.hpp>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "tests/search/proxy/reading_client.h"

namespace search {
namespace {

using ClientPtr = std::shared_ptr<ReadingClient>;

// Reads where sixteen watches may refer to all objects.
struct Fixture : CacheReadsFixture {
  Fixture() {
    REQUIRE(Cache({"m1"}));
    for (int i = 0; i < kObjects; ++i) Put("m1", "a", absl::StrCat("p", i));
    CacheReads::Options options = Options(absl::Seconds(3));
    options.max_sent_bytes = 16 * kObjects * static_cast<int64_t>(sizeof(kube::ObjectPtr));
    few = std::make_unique<CacheReads>(std::move(options));
  }

  // Begins a watch of everything whose client takes nothing.
  ClientPtr Begin(const std::string& who) {
    user = who;
    const ClientPtr client = ReadingClient::Make();
    client->SetRoom(false);
    Start(*few, "/api/v1/pods?watch=1&resourceVersion=0", "", client);
    REQUIRE(tests::Eventually([&] { return client->answered(); }));
    return client;
  }
  // Begins as many as this user may; returns how many.
  int Fill(const std::string& who) {
    int count = 0;
    for (ClientPtr client = Begin(who); client->answer().code == 200; client = Begin(who)) {
      clients.push_back(client);
      ++count;
    }
    return count;
  }

  static constexpr int kObjects = 4;
  std::vector<ClientPtr> clients;
  std::unique_ptr<CacheReads> few;
};

TEST_CASE("references to objects that are being sent are bounded, and each user has a share") {
  Fixture f;
  CHECK(f.Fill("alice") == 8);
  CHECK(f.Fill("bob") == 4);
  CHECK(f.Fill("carol") == 2);
  CHECK(f.Fill("dave") == 1);
  CHECK(f.Fill("erin") == 1);
  const ClientPtr refused = f.Begin("frank");
  CHECK(refused->answer().code == 429);
  const auto headers = refused->answer().headers;
  CHECK(std::count(headers.begin(), headers.end(),
                   std::pair<std::string, std::string>("Retry-After", "1")) == 1);
  // What a client has taken is not kept for it.
  f.clients.front()->SetRoom(true);
  CHECK(tests::Eventually([&] { return f.Begin("frank")->answer().code == 200; }));
  f.stop.request_stop();
}

}  // namespace
}  // namespace search
