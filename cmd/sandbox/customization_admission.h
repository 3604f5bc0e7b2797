// What karmada-webhook does to ResourceInterpreterCustomizations.
#ifndef CMD_SANDBOX_CUSTOMIZATION_ADMISSION_H_
#define CMD_SANDBOX_CUSTOMIZATION_ADMISSION_H_

#include "sandbox/storage/backend.h"

namespace cmd {

// Refuses a customization with a script that does not compile, and one with a script for an
// operation of a kind that another customization has a script for (dependencies may have several),
// as upstream's validateResourceInterpreterCustomizations. The hook reads the others from
// `backend`, which must outlive it.
sandbox::AdmissionHook CustomizationAdmission(sandbox::Backend& backend);

}  // namespace cmd

#endif  // CMD_SANDBOX_CUSTOMIZATION_ADMISSION_H_
