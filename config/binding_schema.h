// By what the definitions of a control plane show of which release of Karmada they are.
#ifndef CONFIG_BINDING_SCHEMA_H_
#define CONFIG_BINDING_SCHEMA_H_

#include "base/json.h"
#include "config/release.h"

namespace config {

// Returns the newest release of which the schema of ResourceBinding (work.karmada.io/v1alpha2) has
// what that release has added; the oldest one when it has nothing of that. The text of a version is
// never looked at: people build and patch their own.
Release ReleaseOfBindingSchema(const json::Value& schema);

}  // namespace config

#endif  // CONFIG_BINDING_SCHEMA_H_
