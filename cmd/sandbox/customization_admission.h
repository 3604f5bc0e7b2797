// Validates ResourceInterpreterCustomizations as karmada-webhook does.
#ifndef CMD_SANDBOX_CUSTOMIZATION_ADMISSION_H_
#define CMD_SANDBOX_CUSTOMIZATION_ADMISSION_H_

#include "sandbox/storage/backend.h"

namespace cmd {

// Returns a hook that refuses a customization with a script that does not compile, and one with a
// script for an operation of a kind for which another customization has a script (dependencies may
// have several), as upstream's validateResourceInterpreterCustomizations. The hook reads the others
// from `backend`. REQUIRES: `backend` outlives the hook.
sandbox::AdmissionHook CustomizationAdmission(sandbox::Backend& backend);

}  // namespace cmd

#endif  // CMD_SANDBOX_CUSTOMIZATION_ADMISSION_H_
