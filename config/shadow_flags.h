// The flags of a shadow that ends with a report. They are apart from Options because loops have no
// use for them.
#ifndef CONFIG_SHADOW_FLAGS_H_
#define CONFIG_SHADOW_FLAGS_H_

#include <string>

#include "absl/status/status.h"
#include "absl/time/time.h"
#include "config/permission_flags.h"

namespace config {

struct ShadowFlags {
  // The file for the report, "-" for standard output; "" when the shadow runs until it is stopped.
  std::string report;
  // When the shadow ends although it has no verdict; 0: never. Only with a report.
  absl::Duration time_limit = absl::Minutes(30);
};

// Does what ParseCommandLine in options.h does, and fills the others.
Parsed ParseCommandLine(int argc, const char* const* argv, AdmissionFlags& admission,
                        PermissionFlags& permissions, ShadowFlags& shadow);

namespace internal {

void AddShadowFlags(CLI::App& app, ShadowFlags& flags);
// kInvalidArgument when the flags do not fit together.
absl::Status ValidateShadow(const Options& options, const ShadowFlags& flags);

}  // namespace internal
}  // namespace config

#endif  // CONFIG_SHADOW_FLAGS_H_
