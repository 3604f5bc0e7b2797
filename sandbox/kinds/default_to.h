// Sets defaults of members.
#ifndef SANDBOX_KINDS_DEFAULT_TO_H_
#define SANDBOX_KINDS_DEFAULT_TO_H_

#include <utility>

#include "absl/strings/string_view.h"
#include "base/json.h"

namespace sandbox {

// Sets the member when it is absent or null.
inline void DefaultTo(json::Value& object, absl::string_view name, json::Value value) {
  if (object[name].is_null()) object.Set(name, std::move(value));
}

}  // namespace sandbox

#endif  // SANDBOX_KINDS_DEFAULT_TO_H_
