// The version of a document, which OpenSearch compares: of two writes the greater one wins.
//
// From the highest bit: the epoch (8 bits), the object's resourceVersion (48), the schema (7). An
// API server's versions only grow, except when its etcd is restored; then the slice begins a new
// epoch. A new schema rewrites what has not changed. A deletion is greater than each write of the
// same resourceVersion.
#ifndef SEARCH_OPENSEARCH_DOCUMENT_VERSION_H_
#define SEARCH_OPENSEARCH_DOCUMENT_VERSION_H_

#include <cstdint>

namespace search {

struct DocumentVersion {
  static constexpr int64_t kMaxEpoch = 255;
  static constexpr int64_t kMaxResourceVersion = (int64_t{1} << 48) - 1;
  static constexpr int64_t kDeletion = 127;  // The schema of a deletion.

  int64_t epoch = 0;
  int64_t resource_version = 0;
  int64_t schema = 0;

  // Values outside of their range become the nearest one.
  int64_t Encode() const;
  static DocumentVersion Decode(int64_t version);
};

}  // namespace search

#endif  // SEARCH_OPENSEARCH_DOCUMENT_VERSION_H_
