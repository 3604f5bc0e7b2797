#include "base/internal/shared_credentials.h"

#include <openssl/evp.h>

#include <array>
#include <deque>
#include <map>
#include <utility>
#include <vector>

#include "base/status.h"

namespace tls::internal {
namespace {

// A process with no more clients than these parses nothing twice.
constexpr size_t kKept = 16;

using Digest = std::array<unsigned char, 32>;

Digest Sha256(absl::string_view text) {
  Digest digest{};
  EVP_Digest(text.data(), text.size(), digest.data(), nullptr, EVP_sha256(), nullptr);
  return digest;
}

absl::StatusOr<std::shared_ptr<const Identity>> Parse(const KeyPair& pair) {
  ASSIGN_OR_RETURN(Identity parsed, Identity::Parse(pair));
  return std::make_shared<const Identity>(std::move(parsed));
}

// Takes the place of the one that was parsed first.
void Keep(std::shared_ptr<const Identity> identity) {
  static absl::Mutex mu;
  static auto& kept = *new std::deque<std::shared_ptr<const Identity>>;
  std::shared_ptr<const Identity> first;  // Is freed without the lock.
  absl::MutexLock lock(&mu);
  kept.push_back(std::move(identity));
  if (kept.size() <= kKept) return;
  first = std::move(kept.front());
  kept.pop_front();
}

}  // namespace

absl::StatusOr<std::shared_ptr<X509_STORE>> SharedRoots(absl::string_view pem) {
  static absl::Mutex mu;
  static auto& stores = *new std::map<Digest, std::weak_ptr<X509_STORE>>;
  const Digest digest = Sha256(pem);
  {
    absl::MutexLock lock(&mu);
    const auto found = stores.find(digest);
    if (found != stores.end()) {
      if (std::shared_ptr<X509_STORE> store = found->second.lock()) return store;
    }
  }
  ASSIGN_OR_RETURN(const std::vector<CertPtr> certificates, ParseCertificates(pem));
  ASSIGN_OR_RETURN(StorePtr made, NewStore(certificates));
  std::shared_ptr<X509_STORE> store(made.release(), Freer<X509_STORE_free>());
  absl::MutexLock lock(&mu);
  std::erase_if(stores, [](const auto& entry) { return entry.second.expired(); });
  // Somebody may have been quicker.
  std::weak_ptr<X509_STORE>& shared = stores[digest];
  if (std::shared_ptr<X509_STORE> other = shared.lock()) return other;
  shared = store;
  return store;
}

absl::StatusOr<std::unique_ptr<ParsedWhenNeeded>> ParsedWhenNeeded::Create(KeyPair pair) {
  RETURN_IF_ERROR(Parse(pair).status());
  return std::unique_ptr<ParsedWhenNeeded>(new ParsedWhenNeeded(std::move(pair)));
}

std::shared_ptr<const Identity> ParsedWhenNeeded::Get() const {
  absl::MutexLock lock(&mu_);
  if (std::shared_ptr<const Identity> parsed = parsed_.lock()) return parsed;
  // Create has parsed it before.
  std::shared_ptr<const Identity> parsed = *Parse(pair_);
  parsed_ = parsed;
  Keep(parsed);
  return parsed;
}

}  // namespace tls::internal
