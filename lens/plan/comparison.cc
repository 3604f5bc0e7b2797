// For each template that one outcome or the other has, and each cluster that either gives it, what
// the cluster has is set against what it would get. A cluster without a Work has no manifest; that
// decides between creation, deletion and change. A Work that could not be made (no manifest, but a
// share) is neither, because the earlier one would stay. Values of Secrets are taken out of both
// sides before a difference is written, in a way that still shows that they differ. No state.

#include "lens/plan/comparison.h"

#include <algorithm>
#include <set>
#include <tuple>
#include <utility>

#include "base/yaml.h"
#include "interpreter/customized/line_diff.h"
#include "lens/plan/places.h"
#include "lens/plan/secrets.h"

namespace lens::plan {
namespace {

using interpreter::customized::LineDiff;

std::string TextOf(const kube::Object& object) {
  return object.empty() ? "" : yaml::Write(object.root());
}

std::string DiffOf(const kube::Object& before, const kube::Object& after) {
  const auto [shown_before, shown_after] = WithoutSecrets(before, after);
  return LineDiff(TextOf(shown_before), TextOf(shown_after));
}

const ClusterShare* ShareOf(const TemplateOutcome* outcome, const std::string& cluster) {
  if (outcome == nullptr) return nullptr;
  const auto found = outcome->clusters.find(cluster);
  return found == outcome->clusters.end() ? nullptr : &found->second;
}

// Returns whether the cluster has something. A cluster whose Work could not be made has a share
// without a manifest.
bool HasManifest(const ClusterShare* share) { return share != nullptr && !share->manifest.empty(); }

// Says what becomes of the cluster's object. `is_held` says that the template does not get through.
Action ActionFor(const ClusterShare* before, const ClusterShare* after, bool is_held) {
  const bool had = HasManifest(before), has = HasManifest(after);
  if (!has && after != nullptr) return is_held ? Action::kNone : Action::kFail;
  if (!had) return has ? Action::kCreate : Action::kNone;
  if (!has) return before->preserved ? Action::kRelease : Action::kDelete;
  const bool same = before->manifest == after->manifest && before->suspended == after->suspended;
  return same ? Action::kNone : Action::kChange;
}

ClusterChange Change(const std::string& cluster, const TemplateOutcome* was,
                     const TemplateOutcome* becomes) {
  const ClusterShare* before = ShareOf(was, cluster);
  const ClusterShare* after = ShareOf(becomes, cluster);
  const bool is_held = becomes != nullptr && !becomes->held_back.empty();
  ClusterChange change{.cluster = cluster, .action = ActionFor(before, after, is_held)};
  if (before != nullptr) change.replicas_before = before->replicas;
  if (after != nullptr) {
    change.replicas_after = after->replicas;
    change.overrides = after->overrides;
    change.suspended = after->suspended;
    change.manifest = WithoutSecrets(after->manifest);
  }
  if (change.action == Action::kChange) {
    change.diff = DiffOf(before->manifest, after->manifest);
  } else if (change.action == Action::kCreate && !becomes->object.empty()) {
    change.diff = DiffOf(becomes->object, after->manifest);
  }
  return change;
}

std::set<std::string> ClustersOf(const TemplateOutcome* a, const TemplateOutcome* b) {
  std::set<std::string> names;
  for (const TemplateOutcome* outcome : {a, b}) {
    if (outcome == nullptr) continue;
    for (const auto& [name, share] : outcome->clusters) names.insert(name);
  }
  return names;
}

const TemplateOutcome* Find(const Outcome& outcome, const ObjectId& id) {
  const auto found = outcome.find(id);
  return found == outcome.end() ? nullptr : &found->second;
}

}  // namespace

absl::string_view NameOf(Action action) {
  switch (action) {
    case Action::kNone:
      return "none";
    case Action::kCreate:
      return "create";
    case Action::kChange:
      return "change";
    case Action::kDelete:
      return "delete";
    case Action::kRelease:
      return "release";
    case Action::kFail:
      break;
  }
  return "fail";
}

Counts Plan::Count() const {
  Counts counts;
  for (const TemplateChange& change : templates) {
    for (const ClusterChange& cluster : change.clusters) {
      switch (cluster.action) {
        case Action::kCreate:
          ++counts.create;
          break;
        case Action::kChange:
          ++counts.change;
          break;
        case Action::kDelete:
          ++counts.remove;
          break;
        case Action::kRelease:
          ++counts.release;
          break;
        case Action::kFail:
          ++counts.fail;
          break;
        case Action::kNone:
          // What is held back may never have been there.
          if (!cluster.manifest.empty()) ++counts.unchanged;
      }
    }
  }
  return counts;
}

std::vector<TemplateChange> Compare(const Outcome& before, const Outcome& after,
                                    const std::vector<InputObject>& objects) {
  const Places places(objects);
  std::set<ObjectId> ids;
  for (const Outcome* outcome : {&before, &after}) {
    for (const auto& [id, ignored] : *outcome) ids.insert(id);
  }
  std::vector<TemplateChange> changes;
  for (const ObjectId& id : ids) {
    const TemplateOutcome* was = Find(before, id);
    const TemplateOutcome* becomes = Find(after, id);
    TemplateChange change{.id = id, .outcome = becomes != nullptr ? *becomes : *was};
    change.place = places.Of(id);
    change.policy_place = places.OfPolicy(change.outcome);
    for (const std::string& cluster : ClustersOf(was, becomes)) {
      change.clusters.push_back(Change(cluster, was, becomes));
    }
    changes.push_back(std::move(change));
  }
  std::sort(changes.begin(), changes.end(), [](const TemplateChange& a, const TemplateChange& b) {
    return std::tie(a.id.ns, a.id.kind, a.id.name, a.id.group) <
           std::tie(b.id.ns, b.id.kind, b.id.name, b.id.group);
  });
  return changes;
}

}  // namespace lens::plan
