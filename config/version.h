// What this build is.
#ifndef CONFIG_VERSION_H_
#define CONFIG_VERSION_H_

#include <string>

namespace config {

// "v0.1.0"
std::string Version();
// The line `karmada-controller-manager version` prints, in upstream's form.
std::string VersionText();

}  // namespace config

#endif  // CONFIG_VERSION_H_
