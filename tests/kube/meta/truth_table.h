// Recorded inputs and outputs of the Go implementation (tests/data/kube; each file names its
// source).
#ifndef TESTS_KUBE_META_TRUTH_TABLE_H_
#define TESTS_KUBE_META_TRUTH_TABLE_H_

#include <string>

#include "base/json.h"

namespace kube_test {

// Returns the table tests/data/kube/<name>; fails the running test case when it cannot be read.
// Tests run in the root of the source tree.
json::Value LoadTable(const std::string& name);

// Parses `text`; fails the running test case when it is not JSON.
json::Value Json(const std::string& text);

}  // namespace kube_test

#endif  // TESTS_KUBE_META_TRUTH_TABLE_H_
