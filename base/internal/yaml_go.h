// How go-yaml v2 writes scalars and sorts names, byte for byte. Private to base/.
#ifndef BASE_INTERNAL_YAML_GO_H_
#define BASE_INTERNAL_YAML_GO_H_

#include <cstddef>
#include <string>

#include "absl/strings/string_view.h"

namespace yaml::internal {

// Appends a string to `out`, which has the beginning of the line. Lines that follow begin with
// `indent` blanks. A text in block form ends with a line end, others do not. Names (`is_name`) stay
// on one line.
void AppendGoString(absl::string_view text, size_t indent, bool is_name, std::string& out);

// Returns whether a name may stand before its colon on one line.
bool IsSimpleGoName(absl::string_view name);

// Returns a number as Go's strconv.FormatFloat(number, 'g', -1, 64) does.
std::string GoFloat(double number);

// Orders names as people do: a9 before a10, signs before letters.
bool IsBeforeInGo(absl::string_view a, absl::string_view b);

}  // namespace yaml::internal

#endif  // BASE_INTERNAL_YAML_GO_H_
