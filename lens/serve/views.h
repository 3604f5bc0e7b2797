// What the page shows, as JSON: a function for each view. docs/serve.md has the fields.
#ifndef LENS_SERVE_VIEWS_H_
#define LENS_SERVE_VIEWS_H_

#include "absl/status/statusor.h"
#include "base/json.h"
#include "base/stop_token.h"
#include "config/options.h"
#include "lens/serve/parameters.h"
#include "lens/serve/viewer.h"
#include "lens/why/chain.h"

namespace lens::serve {

struct Asked {
  Viewer& viewer;
  const Parameters& parameters;
  const why::Question& flags;     // What is not about one object, as for why::Question.
  const config::Options& daemon;  // The daemon's flags, which no object records.
  const base::StopToken& stop;
};

// They block, and fail when nothing of the answer could be read; what is missing of it is in its
// field `unread`: sentences.
using View = absl::StatusOr<json::Value> (*)(const Asked& asked);

absl::StatusOr<json::Value> ScopedFleetView(const Asked& asked);  // fleet_view.cc
absl::StatusOr<json::Value> ClustersView(const Asked& asked);     // clusters_view.cc
absl::StatusOr<json::Value> ObjectView(const Asked& asked);       // object_view.cc
absl::StatusOr<json::Value> GraphView(const Asked& asked);        // graph_view.cc
absl::StatusOr<json::Value> PoliciesView(const Asked& asked);     // policies_view.cc
absl::StatusOr<json::Value> SearchView(const Asked& asked);       // search_view.cc
absl::StatusOr<json::Value> WhatIfView(const Asked& asked);       // what_if_view.cc
absl::StatusOr<json::Value> HourView(const Asked& asked);         // hour_view.cc
absl::StatusOr<json::Value> ExplainView(const Asked& asked);      // explain_view.cc

}  // namespace lens::serve

#endif  // LENS_SERVE_VIEWS_H_
