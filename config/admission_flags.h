// The flags of the endpoint that reviews the interpreter's configurations for admission. They are
// apart from Options because loops have no use for them: only the daemon's wiring reads them.
#ifndef CONFIG_ADMISSION_FLAGS_H_
#define CONFIG_ADMISSION_FLAGS_H_

#include <string>

#include "config/options.h"

namespace config {

struct AdmissionFlags {
  std::string bind_address = "0";  // "0" and "" serve nothing.
  // PEM. Set if the endpoint is served, readable when they were parsed.
  std::string certificate_file, key_file;

  bool IsOn() const { return !bind_address.empty() && bind_address != "0"; }
};

// Does what ParseCommandLine in options.h does, and fills `admission`.
Parsed ParseCommandLine(int argc, const char* const* argv, AdmissionFlags& admission);

}  // namespace config

#endif  // CONFIG_ADMISSION_FLAGS_H_
