// Shows a chain and its diagnosis: as a tree for people, as JSON for programs.
#ifndef LENS_WHY_REPORT_H_
#define LENS_WHY_REPORT_H_

#include <string>
#include <vector>

#include "base/json.h"
#include "lens/why/chain.h"
#include "lens/why/diagnosis.h"

namespace lens::why {

enum class Mark { kFine, kStuck, kWaiting, kNote, kNone };

// A line of the tree.
struct Node {
  Mark mark = Mark::kNone;
  std::string text;
  std::vector<Node> children = {};
};

// Returns the way of the template, step by step; the marks are those of the findings.
Node WayOf(const Chain& chain, const Diagnosis& diagnosis);

// Returns {headline, arrived, advice, cause, findings, newestEdit, way, unread}.
json::Value ReportAsJson(const Chain& chain, const Diagnosis& diagnosis);

absl::string_view MarkName(Mark mark);  // "ok", "stuck", "waiting", "note", ""

}  // namespace lens::why

#endif  // LENS_WHY_REPORT_H_
