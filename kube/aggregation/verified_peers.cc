// All entries have the same lifetime, so the oldest is the last one in the list, and old ones are
// removed with each new one: certificates of connections that are gone are not kept for long.

#include "kube/aggregation/verified_peers.h"

#include <iterator>

namespace kube::aggregation {

absl::StatusOr<tls::PeerIdentity> VerifiedPeers::Verify(
    const std::shared_ptr<const tls::ClientAuthority>& authority,
    const std::shared_ptr<const tls::PeerCertificates>& shown) {
  {
    absl::MutexLock lock(&mu_);
    const auto place = places_.find(Key(authority.get(), shown.get()));
    if (place != places_.end() && clock_.SteadyNow() < place->second->expires) {
      return place->second->identity;
    }
  }
  const base::SteadyTime now = clock_.SteadyNow();
  Entry entry{authority, shown, authority->Verify(*shown), now + kLifetime};
  absl::StatusOr<tls::PeerIdentity> identity = entry.identity;
  Entries dropped;  // Destroyed after the lock is released.
  absl::MutexLock lock(&mu_);
  if (const auto old = places_.find(entry.key()); old != places_.end()) {
    dropped.splice(dropped.end(), entries_, old->second);
    places_.erase(old);
  }
  while (!entries_.empty() && (entries_.size() >= kMaxEntries || entries_.back().expires <= now)) {
    places_.erase(entries_.back().key());
    dropped.splice(dropped.end(), entries_, std::prev(entries_.end()));
  }
  entries_.push_front(std::move(entry));
  places_.emplace(entries_.front().key(), entries_.begin());
  return identity;
}

size_t VerifiedPeers::size() const {
  absl::MutexLock lock(&mu_);
  return entries_.size();
}

}  // namespace kube::aggregation
