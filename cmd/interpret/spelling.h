// What somebody meant who wrote a name that does not exist.
#ifndef CMD_INTERPRET_SPELLING_H_
#define CMD_INTERPRET_SPELLING_H_

#include <optional>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"

namespace cmd::interpret {

// The position of the candidate that needs the fewest changed letters to become `name`, in any
// case; nullopt when all of them are other names (more than a third of the letters and one differ).
std::optional<size_t> NearestName(absl::string_view name,
                                  const std::vector<std::string>& candidates);

}  // namespace cmd::interpret

#endif  // CMD_INTERPRET_SPELLING_H_
