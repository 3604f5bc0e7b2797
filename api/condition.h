// Builds conditions as the loops report them.
#ifndef API_CONDITION_H_
#define API_CONDITION_H_

#include <string>
#include <utility>

#include "absl/strings/string_view.h"
#include "kube/meta/object.h"

namespace api {

// Returns a condition with status True if `holds`, else False.
inline kube::Condition ConditionOf(absl::string_view type, bool holds, absl::string_view reason,
                                   std::string message) {
  return {.type = std::string(type),
          .status = holds ? "True" : "False",
          .reason = std::string(reason),
          .message = std::move(message)};
}

}  // namespace api

#endif  // API_CONDITION_H_
