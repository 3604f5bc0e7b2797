// Turns configuration objects into hooks.
//
//   const Configuration read = ReadConfiguration(object);
//   for (const std::string& problem : read.problems) ...   // "webhooks[0].rules[1].kinds: ..."
//
// Everything that upstream's admission webhook refuses is reported as a problem, in its words, so
// that one function serves admission, `kubectl` users (events) and the daemon. The daemon may still
// find invalid objects (stored earlier, or without an admission webhook); it then uses the valid
// parts.
#ifndef INTERPRETER_WEBHOOK_CONFIGURATION_H_
#define INTERPRETER_WEBHOOK_CONFIGURATION_H_

#include <string>
#include <vector>

#include "interpreter/webhook/hook.h"
#include "kube/meta/object.h"

namespace interpreter::webhook {

struct Configuration {
  std::string name;
  Dialect dialect = Dialect::kInterpreterContext;
  std::vector<Hook> hooks;
  // "<field path>: <what is wrong>", in the order of the document; empty for a valid object.
  std::vector<std::string> problems;
};

// Reads one object of either kind; never fails. Hooks without a name, or with the name of an
// earlier one, are left out. A rule that lacks a list matches nothing, and so does an operation
// that the dialect does not have. A hook without a usable address, CA or version is kept, but
// marked unusable; a timeout outside 1..30 s is moved to the nearer end.
Configuration ReadConfiguration(const kube::Object& object);

}  // namespace interpreter::webhook

#endif  // INTERPRETER_WEBHOOK_CONFIGURATION_H_
