// Suggests the name that was probably meant instead of one that does not exist.
#ifndef BASE_SPELLING_H_
#define BASE_SPELLING_H_

#include <optional>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"

namespace base {

// Returns the index of the candidate that needs the fewest changed letters to become `name`, in any
// case; nullopt when every candidate differs in more than a third of the letters and one.
std::optional<size_t> NearestName(absl::string_view name,
                                  const std::vector<std::string>& candidates);

// Returns "; did you mean X?" for the candidate that NearestName finds, and "" when it finds none.
std::string DidYouMean(absl::string_view name, const std::vector<std::string>& candidates);

}  // namespace base

#endif  // BASE_SPELLING_H_
