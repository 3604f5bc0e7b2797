// Runs each function of a customization once, on an object of its kind.
#ifndef CMD_INTERPRET_TRIAL_H_
#define CMD_INTERPRET_TRIAL_H_

#include <string>
#include <vector>

#include "cmd/interpret/diagnostics.h"
#include "kube/meta/object.h"
#include "tool/documents.h"

namespace cmd::interpret {

struct Trial {
  // About functions that fail, and probable mistakes in results.
  std::vector<Diagnostic> diagnostics;
  // One line for each function that does not fail: "InterpretHealth: true",
  // followed by the message if there is one.
  std::vector<std::string> results;
};

// `document` is a customization for the object's kind. The object is the template and the member's
// object alike; ReviseReplica gets 2 replicas, and AggregateStatus is given one cluster that
// reports the object's status. Scripts that do not compile are ignored, because check reports them.
Trial TryOn(const tool::Document& document, const kube::Object& object,
            const interpreter::customized::MergeOptions& merge = {});

}  // namespace cmd::interpret

#endif  // CMD_INTERPRET_TRIAL_H_
