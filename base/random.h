// Random identifiers and jitter. Thread-safe.
#ifndef BASE_RANDOM_H_
#define BASE_RANDOM_H_

#include <string>

#include "absl/time/time.h"

namespace base {

// Returns a random (version 4) UUID in lower case.
std::string NewUuid();
// Returns a number that is uniform in [0, 1).
double RandomUnit();
// Returns `d` plus up to `factor` of it, uniformly (client-go's wait.Jitter).
absl::Duration Jitter(absl::Duration d, double factor);
// Returns n characters of the alphabet that Kubernetes uses for generateName suffixes.
std::string RandomNameSuffix(int n);

}  // namespace base

#endif  // BASE_RANDOM_H_
