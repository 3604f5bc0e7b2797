#include "kube/aggregation/verified_peers.h"

#include <catch2/catch.hpp>
#include <memory>
#include <string>

#include "tests/support/fake_clock.h"

namespace kube::aggregation {
namespace {

class Shown : public tls::PeerCertificates {
 public:
  std::string LeafDer() const override { return ""; }
};

// Counts what it is asked, and says yes or no.
class Authority : public tls::ClientAuthority {
 public:
  explicit Authority(bool accepts = true) : accepts_(accepts) {}
  absl::StatusOr<tls::PeerIdentity> Verify(const tls::PeerCertificates&) const override {
    ++asked;
    if (!accepts_) return absl::UnauthenticatedError("a stranger");
    return tls::PeerIdentity{"bob", {}};
  }
  mutable int asked = 0;

 private:
  const bool accepts_;
};

TEST_CASE("a verdict counts for ten seconds, for one authority and one handshake") {
  tests::FakeClock clock;
  VerifiedPeers peers(clock);
  const auto good = std::make_shared<Authority>();
  const auto bad = std::make_shared<Authority>(/*accepts=*/false);
  const auto first = std::make_shared<Shown>(), second = std::make_shared<Shown>();
  for (int i = 0; i < 3; ++i) {
    CHECK(peers.Verify(good, first)->common_name == "bob");
    CHECK_FALSE(peers.Verify(bad, first).ok());
  }
  CHECK(good->asked == 1);
  CHECK(bad->asked == 1);
  CHECK(peers.Verify(good, second).ok());
  CHECK(good->asked == 2);
  clock.Advance(VerifiedPeers::kLifetime);
  CHECK(peers.Verify(good, first).ok());
  CHECK(good->asked == 3);
  // The others have been dropped with their certificates.
  CHECK(peers.size() == 1);
  CHECK(second.use_count() == 1);
}

TEST_CASE("not more verdicts are kept than allowed") {
  tests::FakeClock clock;
  VerifiedPeers peers(clock);
  const auto authority = std::make_shared<Authority>();
  for (size_t i = 0; i < 2 * VerifiedPeers::kMaxEntries; ++i) {
    CHECK(peers.Verify(authority, std::make_shared<Shown>()).ok());
  }
  CHECK(peers.size() == VerifiedPeers::kMaxEntries);
}

}  // namespace
}  // namespace kube::aggregation
