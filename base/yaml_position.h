// Where a value stands in a YAML or JSON text, for messages that point at it.
#ifndef BASE_YAML_POSITION_H_
#define BASE_YAML_POSITION_H_

#include <optional>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "base/json.h"

namespace yaml {

// Lines and columns count from 1; columns count bytes.
struct Position {
  int line = 0;
  int column = 0;
};

struct Place {
  Position key;    // Where the member's name begins; for the document itself, its value.
  Position value;  // Where the value begins: its first byte, or the "|" or ">" before block text.
};

// Where the value at `path` is in the first document of `text`; nullopt when the text ends or
// breaks off before it. Names stand for members; a number ("0") for an item of a list.
std::optional<Place> FindPlace(absl::string_view text, json::Path path);

// A name that a map has twice. yaml::Parse keeps the last value, as Kubernetes' readers do.
struct RepeatedName {
  std::vector<std::string> path;  // The names that lead to the member, outermost first.
  Position first;
  Position again;
};
// All of the first document of `text`, in its order; those before the place where it breaks off.
// "<<" may be repeated.
std::vector<RepeatedName> FindRepeatedNames(absl::string_view text);

}  // namespace yaml

#endif  // BASE_YAML_POSITION_H_
