// A plan as text for people and as JSON for programs.
#ifndef LENS_PLAN_REPORT_H_
#define LENS_PLAN_REPORT_H_

#include <string>

#include "base/json.h"
#include "lens/plan/comparison.h"
#include "tool/console.h"

namespace lens::plan {

struct ReportOptions {
  tool::Colours colours{false};
  bool full = false;  // True: what does not change is listed, too, and whole manifests are shown.
};

// Returns each template with its policy and clusters, then a summary line. Ends with a line end.
std::string TextOf(const Plan& plan, const ReportOptions& options);

// Returns "warning: web.yaml:3: OverridePolicy shop/small: ..." for each finding, a line each.
std::string WarningsOf(const Plan& plan, const tool::Colours& colours);

// Returns how many templates there are of each verdict but "unchanged": "moves 3, pinned 1".
std::string CountsOf(const WhatIf& answer);

// Returns whether some cluster does not keep what it has of the template.
bool Differs(const TemplateChange& change);

// Returns "+ member2: create, 2 replicas" and so on, without colours.
std::string LineOf(const ClusterChange& change);

// Returns {"templates":[...],"warnings":[...],"summary":{...}}; docs/lens.md has the fields.
json::Value JsonOf(const Plan& plan);

}  // namespace lens::plan

#endif  // LENS_PLAN_REPORT_H_
