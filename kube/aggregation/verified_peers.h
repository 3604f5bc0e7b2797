// Keeps for a short time what a verification of client certificates has found.
//
// A verification costs 0.1 ms of CPU, ten times what everything else costs for a request, and each
// request needs one or two.
#ifndef KUBE_AGGREGATION_VERIFIED_PEERS_H_
#define KUBE_AGGREGATION_VERIFIED_PEERS_H_

#include <cstddef>
#include <list>
#include <memory>
#include <utility>

#include "absl/base/thread_annotations.h"
#include "absl/container/flat_hash_map.h"
#include "absl/status/statusor.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/time.h"
#include "base/clock.h"
#include "base/tls.h"

namespace kube::aggregation {

// Thread-safe.
class VerifiedPeers {
 public:
  // How long a verdict is used again, and so how long a certificate is accepted after its end, or
  // that of its authority.
  static constexpr absl::Duration kLifetime = absl::Seconds(10);
  static constexpr size_t kMaxEntries = 512;

  // REQUIRES: `clock` outlives the object.
  explicit VerifiedPeers(const base::Clock& clock) : clock_(clock) {}
  VerifiedPeers(const VerifiedPeers&) = delete;

  // Returns what `authority` says of the certificates that one connection has shown. A verdict is
  // that of one authority about one handshake: another authority, or another connection, is asked
  // again. REQUIRES: neither is nullptr.
  absl::StatusOr<tls::PeerIdentity> Verify(
      const std::shared_ptr<const tls::ClientAuthority>& authority,
      const std::shared_ptr<const tls::PeerCertificates>& shown);

  size_t size() const;

 private:
  // Addresses, which are not used again as long as an entry owns the objects.
  using Key = std::pair<const tls::ClientAuthority*, const tls::PeerCertificates*>;
  struct Entry {
    std::shared_ptr<const tls::ClientAuthority> authority;
    std::shared_ptr<const tls::PeerCertificates> shown;
    absl::StatusOr<tls::PeerIdentity> identity;
    base::SteadyTime expires;

    Key key() const { return {authority.get(), shown.get()}; }
  };
  using Entries = std::list<Entry>;

  const base::Clock& clock_;
  mutable absl::Mutex mu_;
  Entries entries_ ABSL_GUARDED_BY(mu_);  // The newest first.
  absl::flat_hash_map<Key, Entries::iterator> places_ ABSL_GUARDED_BY(mu_);
};

}  // namespace kube::aggregation

#endif  // KUBE_AGGREGATION_VERIFIED_PEERS_H_
