// The objects that the interpreter is asked about, from files that both sides of the benchmark
// read.
#ifndef TESTS_BENCH_INTERPRETER_SUBJECT_H_
#define TESTS_BENCH_INTERPRETER_SUBJECT_H_

#include <string>

#include "absl/status/statusor.h"
#include "base/json.h"
#include "interpreter/interpreter.h"
#include "kube/meta/object.h"

namespace bench {

// An object and the status that two members report of it.
struct Subject {
  std::string name;
  kube::Object object;
  interpreter::AggregatedItems items;
};

// Returns the JSON value in a file. Errors name the file.
absl::StatusOr<json::Value> ReadJson(const std::string& path);
// Reads "<folder>/<name>.json" and "<folder>/<name>.items.json". The values of different calls
// share nothing, as the objects of different workers do not.
absl::StatusOr<Subject> ReadSubject(const std::string& folder, const std::string& name);

}  // namespace bench

#endif  // TESTS_BENCH_INTERPRETER_SUBJECT_H_
