// Makes hooks of configuration objects.
//
//   const Configuration read = ReadConfiguration(object);
//   for (const std::string& problem : read.problems) ...   // "webhooks[0].rules[1].kinds: ..."
//
// What upstream's admission webhook refuses is reported as a problem, in its words, so that one
// function serves admission, `kubectl` users (events) and the daemon. The daemon meets such objects
// all the same (they were stored before, or nobody validates); then as much works as can.
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

// Reads one object of either kind; never fails. A hook without a name, or with the name of an
// earlier one, is left out; a rule that lacks a list, and an operation that the dialect does not
// have, match nothing; a hook without usable address, CA or version is there but unusable; a
// timeout outside 1..30 s is moved to the nearer end.
Configuration ReadConfiguration(const kube::Object& object);

}  // namespace interpreter::webhook

#endif  // INTERPRETER_WEBHOOK_CONFIGURATION_H_
