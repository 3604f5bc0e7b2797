// A plan: the difference between what clusters have and what they would get.
#ifndef LENS_PLAN_COMPARISON_H_
#define LENS_PLAN_COMPARISON_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "lens/plan/findings.h"
#include "lens/plan/input.h"
#include "lens/plan/outcome.h"
#include "lens/plan/what_if.h"

namespace lens::plan {

// kRelease: the object stays in the cluster, but Karmada does not manage it any more. kFail: the
// cluster shall get something, and it cannot be made; it keeps what it has.
enum class Action { kNone, kCreate, kChange, kDelete, kRelease, kFail };
// Returns "none", "create", "change", "delete", "release" or "fail".
absl::string_view NameOf(Action action);

struct ClusterChange {
  std::string cluster;
  Action action = Action::kNone;
  std::optional<int64_t> replicas_before, replicas_after;
  std::vector<std::string> overrides;
  bool suspended = false;
  // The manifest that the cluster would get, without the values of a Secret; empty when it gets
  // none.
  kube::Object manifest;
  // Lines with "+", "-" and " ": for a change the difference to the manifest that the cluster has,
  // for a creation the difference to the template. Values of a Secret are not shown.
  std::string diff;
};

struct TemplateChange {
  ObjectId id;
  // What would be there; for a template that is removed, what is there now.
  TemplateOutcome outcome;
  Place place;                          // Of the template; empty when no file has it.
  Place policy_place;                   // Of the policy.
  std::vector<ClusterChange> clusters;  // Sorted by name.
};

struct Counts {
  size_t create = 0, change = 0, remove = 0, release = 0, unchanged = 0, fail = 0;
  // Returns whether some cluster does not keep what it has.
  bool any() const { return create + change + remove + release > 0; }
};

struct Plan {
  std::vector<TemplateChange> templates;  // Sorted by namespace, kind and name.
  std::vector<Finding> findings;          // Sorted by place.
  size_t clusters = 0;                    // How many there are.
  // The answer to a question about the fleet; nullopt when none was asked.
  std::optional<WhatIf> what_if;

  Counts Count() const;
};

// Compares both outcomes. The places are those of `objects`.
std::vector<TemplateChange> Compare(const Outcome& before, const Outcome& after,
                                    const std::vector<InputObject>& objects);

}  // namespace lens::plan

#endif  // LENS_PLAN_COMPARISON_H_
