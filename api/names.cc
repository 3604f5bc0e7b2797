#include "api/names.h"

#include "absl/status/status.h"
#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/strip.h"
#include "api/keys.h"

namespace api {

namespace {

// The alphabet of rand.SafeEncodeString: no vowels, no 0, 1, 3.
constexpr absl::string_view kSafeLetters = "bcdfghjklmnpqrstvwxz2456789";

std::string EncodedHash(absl::string_view text) { return SafeEncode(absl::StrCat(Fnv1a32(text))); }

std::string WithoutColons(absl::string_view name) {
  return absl::StrReplaceAll(name, {{":", "."}});
}

}  // namespace

uint32_t Fnv1a32(absl::string_view bytes) {
  uint32_t hash = 2166136261u;
  for (const char c : bytes) {
    hash = (hash ^ static_cast<uint8_t>(c)) * 16777619u;
  }
  return hash;
}

std::string SafeEncode(absl::string_view text) {
  std::string out;
  out.reserve(text.size());
  for (const char c : text) {
    out.push_back(kSafeLetters[static_cast<uint8_t>(c) % kSafeLetters.size()]);
  }
  return out;
}

std::string ExecutionNamespace(absl::string_view cluster) {
  return absl::StrCat(kExecutionNamespacePrefix, cluster);
}

absl::StatusOr<std::string> ClusterOfExecutionNamespace(absl::string_view ns) {
  absl::string_view cluster = ns;
  if (!absl::ConsumePrefix(&cluster, kExecutionNamespacePrefix)) {
    return absl::InvalidArgumentError(
        absl::StrCat("the execution space name is in wrong format: ", ns));
  }
  return std::string(cluster);
}

bool IsExecutionNamespace(absl::string_view ns) {
  return absl::StartsWith(ns, kExecutionNamespacePrefix);
}

bool IsReservedNamespace(absl::string_view ns) {
  return ns == kSystemNamespace || ns == kClusterNamespace || IsExecutionNamespace(ns);
}

std::string BindingName(absl::string_view kind, absl::string_view name) {
  return absl::AsciiStrToLower(absl::StrCat(WithoutColons(name), "-", kind));
}

std::string WorkName(absl::string_view kind, absl::string_view name, absl::string_view ns) {
  const std::string base = absl::AsciiStrToLower(WithoutColons(name));
  std::string hashed = absl::StrCat(base, "-", kind);
  if (!ns.empty()) hashed = absl::StrCat(ns, "-", hashed);
  return absl::StrCat(base, "-", EncodedHash(absl::AsciiStrToLower(hashed)));
}

std::string DependedByHash(absl::string_view ns, absl::string_view name) {
  return EncodedHash(absl::StrCat(ns, "/", name));
}

}  // namespace api
