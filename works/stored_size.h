// How large an object may be for the storage of its server, to explain why it could not be written.
#ifndef WORKS_STORED_SIZE_H_
#define WORKS_STORED_SIZE_H_

#include <cstddef>
#include <optional>

#include "absl/status/status.h"
#include "kube/meta/object.h"

namespace works {

// etcd's default for --max-request-bytes, to which an object adds what the server records with it.
inline constexpr size_t kEtcdBytes = 1536 << 10;

// Returns the size of the object in bytes if `written`, the outcome of its write, is a failure that
// may be due to it; else nullopt.
std::optional<size_t> SuspiciousSize(const kube::Object& object, const absl::Status& written);

}  // namespace works

#endif  // WORKS_STORED_SIZE_H_
