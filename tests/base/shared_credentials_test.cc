#include "base/internal/shared_credentials.h"

#include <future>
#include <memory>
#include <string>
#include <vector>

#include <catch2/catch.hpp>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"

namespace {

using tls::internal::Identity;
using tls::internal::ParsedWhenNeeded;
using tls::internal::SharedRoots;

std::unique_ptr<tls::CertificateAuthority> NewAuthority() {
  auto authority = tls::CertificateAuthority::Create("authority");
  REQUIRE(authority.ok());
  return *std::move(authority);
}

TEST_CASE("the same roots are one store, for as long as somebody holds it") {
  const auto authority = NewAuthority();
  const std::string copy = authority->cert_pem();
  std::weak_ptr<X509_STORE> held;
  {
    const auto store = SharedRoots(authority->cert_pem());
    REQUIRE(store.ok());
    CHECK(*SharedRoots(copy) == *store);
    CHECK(*SharedRoots(NewAuthority()->cert_pem()) != *store);
    held = *store;
  }
  CHECK(held.expired());
  CHECK(SharedRoots(copy).ok());
}

TEST_CASE("roots that cannot be parsed are refused each time") {
  for (int i = 0; i < 2; ++i) {
    const auto store =
        SharedRoots("-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n");
    CHECK(absl::IsInvalidArgument(store.status()));
  }
}

TEST_CASE("of many key pairs only those that were needed lately are parsed") {
  const auto authority = NewAuthority();
  std::vector<std::unique_ptr<ParsedWhenNeeded>> pairs;
  std::vector<std::weak_ptr<const Identity>> parsed;
  for (int i = 0; i < 40; ++i) {
    auto pair =
        ParsedWhenNeeded::Create(*authority->Issue({.common_name = absl::StrCat("user-", i)}));
    REQUIRE(pair.ok());
    parsed.push_back((*pair)->Get());
    pairs.push_back(*std::move(pair));
  }
  CHECK(parsed.front().expired());
  CHECK_FALSE(parsed.back().expired());
  // What is held is not parsed again, and what is not held is.
  CHECK(pairs.back()->Get() == parsed.back().lock());
  const auto again = pairs.front()->Get();
  REQUIRE(again->chain.size() == 1);
  CHECK(again->key != nullptr);
  CHECK(pairs.front()->Get() == again);
}

TEST_CASE("threads that need a key pair at the same time get the same") {
  const auto authority = NewAuthority();
  const auto pair = ParsedWhenNeeded::Create(*authority->Issue({.common_name = "user"}));
  REQUIRE(pair.ok());
  std::vector<std::future<std::shared_ptr<const Identity>>> threads;
  for (int i = 0; i < 4; ++i) {
    threads.push_back(std::async(std::launch::async, [&] { return (*pair)->Get(); }));
  }
  const auto first = threads.front().get();
  for (size_t i = 1; i < threads.size(); ++i) CHECK(threads[i].get() == first);
}

TEST_CASE("a key of another certificate is refused at once") {
  const auto authority = NewAuthority();
  const tls::KeyPair one = *authority->Issue({.common_name = "one"});
  const tls::KeyPair other = *authority->Issue({.common_name = "other"});
  const auto pair = ParsedWhenNeeded::Create({one.cert_pem, other.key_pem});
  CHECK(absl::StrContains(pair.status().message(), "private key"));
}

}  // namespace
