// Finds the place of a value in a YAML or JSON text, for error messages.
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

// Returns the place of the value at `path` in the first document of `text`; nullopt when the text
// ends before it or cannot be read that far. Names stand for members; a number ("0") for an item of
// a list.
std::optional<Place> FindPlace(absl::string_view text, json::Path path);

// The places of all values of a text, for callers that need many of them: one pass over the text.
// Thread-safe.
class PlaceIndex {
 public:
  explicit PlaceIndex(absl::string_view text);

  // Returns what FindPlace returns for the same text and path.
  std::optional<Place> Find(json::Path path) const;

 private:
  friend class PlaceCollector;

  struct Node {
    std::string name;
    Place place;
    size_t end = 0;  // The index after the last node below this one.
  };

  std::vector<Node> nodes_;  // In the order of the text: the values in a value follow it.
};

// A name that a map has twice. yaml::Parse keeps the last value, as Kubernetes' readers do.
struct RepeatedName {
  std::vector<std::string> path;  // The names that lead to the member, outermost first.
  Position first;
  Position again;
};
// Returns the repeated names of the first document of `text` in its order, up to where it cannot be
// read. "<<" may be repeated.
std::vector<RepeatedName> FindRepeatedNames(absl::string_view text);

}  // namespace yaml

#endif  // BASE_YAML_POSITION_H_
