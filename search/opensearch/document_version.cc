#include "search/opensearch/document_version.h"

#include <algorithm>

namespace search {
namespace {

constexpr int kSchemaBits = 7;
constexpr int kResourceVersionBits = 48;

}  // namespace

int64_t DocumentVersion::Encode() const {
  const int64_t e = std::clamp<int64_t>(epoch, 0, kMaxEpoch);
  const int64_t v = std::clamp<int64_t>(resource_version, 0, kMaxResourceVersion);
  const int64_t s = std::clamp<int64_t>(schema, 0, kDeletion);
  return ((e << kResourceVersionBits | v) << kSchemaBits) | s;
}

DocumentVersion DocumentVersion::Decode(int64_t version) {
  return {.epoch = version >> (kSchemaBits + kResourceVersionBits) & kMaxEpoch,
          .resource_version = version >> kSchemaBits & kMaxResourceVersion,
          .schema = version & kDeletion};
}

}  // namespace search
