// The verbosity of parts of the program that have names of their own, beside that of files
// (base/log.h).
#ifndef BASE_VERBOSITY_H_
#define BASE_VERBOSITY_H_

#include <source_location>

#include "absl/strings/string_view.h"

namespace base {

// Does what VlogOn does for a part of the program that has a name, such as a controller: a pattern
// of --vmodule may match that name instead of the file's.
bool VlogOnFor(absl::string_view part, int level,
               std::source_location where = std::source_location::current());

}  // namespace base

#endif  // BASE_VERBOSITY_H_
