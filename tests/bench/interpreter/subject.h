// What the interpreter is asked about: objects from files, which both sides of the benchmark read.
#ifndef TESTS_BENCH_INTERPRETER_SUBJECT_H_
#define TESTS_BENCH_INTERPRETER_SUBJECT_H_

#include <string>

#include "absl/status/statusor.h"
#include "base/json.h"
#include "interpreter/interpreter.h"
#include "kube/meta/object.h"

namespace bench {

// An object with what two members report of it.
struct Subject {
  std::string name;
  kube::Object object;
  interpreter::AggregatedItems items;
};

// The JSON value in a file. Errors name the file.
absl::StatusOr<json::Value> ReadJson(const std::string& path);
// "<folder>/<name>.json" and "<folder>/<name>.items.json". Every call makes a value that shares
// nothing with others, as objects of different workers do.
absl::StatusOr<Subject> ReadSubject(const std::string& folder, const std::string& name);

}  // namespace bench

#endif  // TESTS_BENCH_INTERPRETER_SUBJECT_H_
