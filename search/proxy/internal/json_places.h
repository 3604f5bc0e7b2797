// Finds members of a JSON text by their bytes, so that they can be edited while all other bytes
// stay as they are (unknown fields, numbers of any size, the order of members). Private to
// search/proxy/.
#ifndef SEARCH_PROXY_INTERNAL_JSON_PLACES_H_
#define SEARCH_PROXY_INTERNAL_JSON_PLACES_H_

#include <cstddef>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "base/json.h"

namespace search {

struct JsonPlace {
  size_t begin = 0, end = 0;  // The bytes of the value.
  // The bytes to cut so that the member is gone: its name, its value and one comma.
  size_t cut_begin = 0, cut_end = 0;
};

// Returns the places of the value at the path, in the order of the text; a repeated member has
// several. "*" stands for every element of an array (whose cut_* are not set).
// REQUIRES: `text` is a document that json::Parse accepts.
std::vector<JsonPlace> PlacesOf(absl::string_view text, json::Path path);

// A replacement of the bytes [begin, end).
struct TextEdit {
  size_t begin = 0, end = 0;
  std::string bytes;
};
// REQUIRES: the edits do not overlap.
std::string Edited(absl::string_view text, std::vector<TextEdit> edits);

}  // namespace search

#endif  // SEARCH_PROXY_INTERNAL_JSON_PLACES_H_
