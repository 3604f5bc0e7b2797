// Running each function of a customization once, against an object of its kind.
#ifndef CMD_INTERPRET_TRIAL_H_
#define CMD_INTERPRET_TRIAL_H_

#include <string>
#include <vector>

#include "cmd/interpret/diagnostics.h"
#include "cmd/interpret/documents.h"
#include "kube/meta/object.h"

namespace cmd::interpret {

struct Trial {
  std::vector<Diagnostic> diagnostics;  // Functions that fail, and results that look like slips.
  std::vector<std::string> results;     // "InterpretHealth: true", a line for each that does not.
};

// `document` is a customization for the object's kind. The object is the template and the member's
// object alike; ReviseReplica is asked for 2 replicas, and AggregateStatus is given one cluster
// that reports the object's status. Scripts that cannot answer are passed over: check reports them.
Trial TryOn(const Document& document, const kube::Object& object);

}  // namespace cmd::interpret

#endif  // CMD_INTERPRET_TRIAL_H_
