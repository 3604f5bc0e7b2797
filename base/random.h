// Randomness: identifiers and jitter. Thread-safe.
#ifndef BASE_RANDOM_H_
#define BASE_RANDOM_H_

#include <string>

#include "absl/time/time.h"

namespace base {

// A random (version 4) UUID in lower case.
std::string NewUuid();
// Uniform in [0, 1).
double RandomUnit();
// d plus up to `factor` of it, uniformly (client-go's wait.Jitter).
absl::Duration Jitter(absl::Duration d, double factor);
// n characters of the alphabet Kubernetes uses for generateName suffixes.
std::string RandomNameSuffix(int n);

}  // namespace base

#endif  // BASE_RANDOM_H_
