#include "base/random.h"

#include <cstdint>

#include "absl/random/random.h"
#include "absl/strings/str_format.h"
#include "absl/strings/string_view.h"

namespace base {
namespace {

absl::BitGen& Generator() {
  static thread_local absl::BitGen generator;
  return generator;
}

}  // namespace

std::string NewUuid() {
  const uint64_t high = absl::Uniform<uint64_t>(Generator());
  const uint64_t low = absl::Uniform<uint64_t>(Generator());
  // The third group begins with version 4, the fourth with variant 10xx.
  return absl::StrFormat("%08x-%04x-4%03x-%04x-%012x", high >> 32, (high >> 16) & 0xffff,
                         high & 0xfff, (low >> 48 & 0x3fff) | 0x8000, low & 0xffffffffffff);
}

double RandomUnit() { return absl::Uniform<double>(Generator(), 0.0, 1.0); }

absl::Duration Jitter(absl::Duration d, double factor) { return d + d * (factor * RandomUnit()); }

std::string RandomNameSuffix(int n) {
  // Has no vowels and no 0, 1, 3, so that no words appear by chance and no character is misread.
  constexpr absl::string_view kAlphabet = "bcdfghjklmnpqrstvwxz2456789";
  std::string suffix;
  for (int i = 0; i < n; ++i) {
    suffix += kAlphabet[absl::Uniform<size_t>(Generator(), 0, kAlphabet.size())];
  }
  return suffix;
}

}  // namespace base
