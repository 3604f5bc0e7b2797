// What reasons of events and conditions mean: the rows of docs/events.md, found by a reason, a
// condition, or a line in which one of them stands.
#ifndef LENS_EXPLAIN_REASONS_H_
#define LENS_EXPLAIN_REASONS_H_

#include <string>
#include <utility>
#include <vector>

#include "absl/strings/string_view.h"
#include "base/json.h"

namespace lens::explain {

// A row, without Markdown.
struct Reason {
  std::string about;      // The heading: "Templates", "Clusters".
  std::string type;       // Of an event: "Warning" or "Normal".
  std::string condition;  // Of a condition: "Ready False".
  std::string reason;     // "SyncFailed", without what stands behind it.
  bool is_own = false;    // Upstream does not have it, or not on this object.
  std::string from, when, means, what_to_do;
};

// Returns the rows of a page in the form of docs/events.md.
std::vector<Reason> ReasonsOf(absl::string_view page);

// Returns the rows whose reason or condition ("Ready", "Ready=False") is the text, or stands in it
// as a word, in any case; in the order of the page. Of a line that names a condition with its
// status the rows with another status are left out.
std::vector<Reason> Find(const std::vector<Reason>& reasons, absl::string_view text);

// Returns "; did you mean SyncFailed?" for a word that is nearly a reason or a condition; "" for
// others.
std::string Suggestion(const std::vector<Reason>& reasons, absl::string_view text);

// Returns {about, type, condition, reason, ours, from, when, means, whatToDo}.
json::Value JsonOf(const Reason& reason);

}  // namespace lens::explain

#endif  // LENS_EXPLAIN_REASONS_H_
