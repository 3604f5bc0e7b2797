// What depends on the release of Karmada as which the server behaves.

#include <catch2/catch.hpp>
#include <fstream>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "base/json.h"
#include "tests/cmd/search/search_plane.h"
#include "tests/support/eventually.h"
#include "tests/support/temp_directory.h"

namespace tests {
namespace {

constexpr char kAsV1_18[] = "--emulated-karmada-version=v1.18";
constexpr char kAsV1_19[] = "--emulated-karmada-version=v1.19";

// Returns the right by which a request in another user's name was permitted, as the audit log has
// it: "none" for the one without constraint.
std::string ConstraintOf(const std::vector<std::string>& flags) {
  const TempDirectory directory;
  const std::string log = directory.Write("audit.log", "");
  std::vector<std::string> words = flags;
  words.insert(words.end(), {"--audit-level=Metadata", absl::StrCat("--audit-log-path=", log)});
  SearchPlane plane(words);
  // The sandbox permits everything, so the first right that is asked for is enough.
  CHECK(plane
            .GetAs(plane.ClientCertificate("bob", "dev"), "Impersonate-User: alice\r\n",
                   "/apis/search.karmada.io/v1alpha1/resourceregistries?a=mark")
            .code == 200);
  std::string found;
  CHECK(Eventually([&] {
    std::ifstream in(log);
    for (std::string line; std::getline(in, line);) {
      const auto event = json::Parse(line);
      if (!event.ok() || !absl::StrContains(line, "a=mark")) continue;
      CHECK(event->Get({"impersonatedUser", "username"}).AsString() == "alice");
      found = std::string(
          event->Get({"authenticationMetadata", "impersonationConstraint"}).AsString("none"));
    }
    return !found.empty();
  }));
  return found;
}

}  // namespace

TEST_CASE("a server that behaves as v1.19 has what its library has by default") {
  SearchPlane plane({kAsV1_19});
  const RawResponse statusz = plane.Get("/statusz");
  CHECK(statusz.code == 200);
  CHECK(absl::StrContains(statusz.body, "Binary version: 1.36"));
  CHECK(plane.Get("/flagz").code == 404);
  CHECK(absl::StrContains(plane.Get("/version").body, R"("minor": "36")"));
  CHECK(absl::StrContains(plane.Get("/metrics").body,
                          "\nkarmada_emulated_release_info{release=\"v1.19\"} 1"));
}

TEST_CASE("a server that behaves as v1.18 has none of it, unless a flag says so") {
  SearchPlane plane({kAsV1_18});
  CHECK(plane.Get("/statusz").code == 404);
  CHECK(absl::StrContains(plane.Get("/version").body, R"("minor": "35")"));
  CHECK(absl::StrContains(plane.Get("/metrics").body,
                          "\nkarmada_emulated_release_info{release=\"v1.18\"} 1"));
  SearchPlane with_gate({kAsV1_18, "--feature-gates=ComponentStatusz=true"});
  CHECK(with_gate.Get("/statusz").code == 200);
}

TEST_CASE("impersonation is permitted by the constrained right first, as the release has it") {
  CHECK(ConstraintOf({kAsV1_18}) == "none");
  CHECK(ConstraintOf({kAsV1_19}) == "impersonate:user-info");
  CHECK(ConstraintOf({kAsV1_19, "--feature-gates=ConstrainedImpersonation=false"}) == "none");
}

TEST_CASE("without the flag the release is that of the control plane's definitions") {
  SearchPlane plane;
  CHECK(absl::StrContains(plane.Get("/metrics").body, "\nkarmada_emulated_release_info{"));
}

}  // namespace tests
