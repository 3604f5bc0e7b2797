// The settings with which a process runs, for its page /configz.
#ifndef CMD_CONTROLLER_MANAGER_SETTINGS_PAGE_H_
#define CMD_CONTROLLER_MANAGER_SETTINGS_PAGE_H_

#include <string>

#include "config/options.h"

namespace cmd {

// Returns JSON: under the name of the program its version, every flag with the value that was given
// or is the default, every feature gate, the controllers that run, why each other one does not, and
// the warnings of the start, which say what of that has no effect. No setting is a secret; files
// with secrets are named, not shown.
std::string SettingsPage(const config::Options& options);

}  // namespace cmd

#endif  // CMD_CONTROLLER_MANAGER_SETTINGS_PAGE_H_
