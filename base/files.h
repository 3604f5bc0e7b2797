// Reads whole files.
#ifndef BASE_FILES_H_
#define BASE_FILES_H_

#include <string>

#include "absl/status/statusor.h"

namespace base {

// kNotFound "PATH does not exist", or kInvalidArgument "PATH cannot be read: REASON", where the
// reason is the system's: "Permission denied", "Is a directory".
absl::StatusOr<std::string> ReadFile(const std::string& path);

// Does what ReadFile does, and also refuses an empty file: kInvalidArgument "PATH is empty". It is
// for files that have to say something, such as certificates and tokens.
absl::StatusOr<std::string> ReadContent(const std::string& path);

}  // namespace base

#endif  // BASE_FILES_H_
