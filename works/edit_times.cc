// An edit enters the table with Seen and leaves it in one of three ways. When the execution loop
// has told of as many clusters as the binding has in spec.clusters, the targets of the binding are
// looked up, and if all of them have settled, the time of the last arrival is observed. When the
// template is edited again, is not propagated or stays away too long, the edit is counted as not
// timed. When the template is gone, nothing is said. Late edits are looked for once a minute, by
// the edits that come after them. The binding is read without the lock.

#include "works/edit_times.h"

#include <algorithm>

#include "absl/hash/hash.h"
#include "absl/strings/numbers.h"
#include "api/binding.h"
#include "api/binding_address.h"
#include "api/keys.h"

namespace works {
namespace {

constexpr absl::Duration kLookPeriod = absl::Minutes(1);

uint64_t IdOf(const kube::Gvk& gvk, const kube::ObjectKey& key) {
  return absl::HashOf(gvk.group, gvk.kind, key.ns, key.name);
}

// 10 ms to 10 minutes.
const std::vector<double>& Buckets() {
  static const auto& buckets = *new std::vector<double>{0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1,   2,
                                                        5,    10,   20,   30,  60,  120, 300, 600};
  return buckets;
}

}  // namespace

void EditTimes::Seen(const kube::Object& template_object) {
  const uint64_t id = IdOf(template_object.gvk(), template_object.key());
  const base::SteadyTime now = clock_.SteadyNow();
  absl::MutexLock lock(&mu_);
  if (now - looked_at_ >= kLookPeriod) LeaveLateOnes(now);
  const auto before = edits_.find(id);
  if (before != edits_.end()) {
    // One object may be seen in two versions of its API.
    if (before->second.generation == template_object.generation()) return;
    Leave(before, "superseded");
  }
  if (edits_.size() >= kMostEdits) {
    CountLeft(std::string(template_object.kind()), "too_many");
    return;
  }
  Edit& edit = edits_[id];
  edit.kind = std::string(template_object.kind());
  edit.generation = template_object.generation();
  edit.seen_at = now;
  under_way_ = edits_.size();
}

void EditTimes::NotPropagated(const kube::Gvk& gvk, const kube::ObjectKey& key) {
  if (IsIdle()) return;
  absl::MutexLock lock(&mu_);
  const auto edit = edits_.find(IdOf(gvk, key));
  if (edit != edits_.end()) Leave(edit, "not_propagated");
}

void EditTimes::Forget(const kube::Gvk& gvk, const kube::ObjectKey& key) {
  if (IsIdle()) return;
  absl::MutexLock lock(&mu_);
  const auto edit = edits_.find(IdOf(gvk, key));
  if (edit != edits_.end()) Erase(edit);
}

void EditTimes::Arrived(absl::string_view cluster, const kube::Object& manifest) {
  if (!IsIdle()) Settle(cluster, manifest, /*has_arrived=*/true);
}

void EditTimes::Excused(absl::string_view cluster, const kube::Object& manifest) {
  if (!IsIdle()) Settle(cluster, manifest, /*has_arrived=*/false);
}

void EditTimes::Settle(absl::string_view cluster, const kube::Object& manifest, bool has_arrived) {
  int64_t generation = 0;
  if (!absl::SimpleAtoi(manifest.Annotation(api::kTemplateGenerationAnnotation), &generation)) {
    return;
  }
  const uint64_t id = IdOf(manifest.gvk(), manifest.key());
  const size_t settled = Mark(id, absl::HashOf(cluster), generation, has_arrived);
  if (settled == 0) return;
  const api::BindingAddress at = api::BindingOf(manifest.kind(), manifest.key());
  const kube::ObjectPtr binding = control_plane_.Find(at.resource, at.key);
  // Most of many clusters are not the last one; there may be more targets than these.
  if (binding == nullptr || settled < binding->spec()["clusters"].size()) return;
  EndIfSettled(id, *binding, generation);
}

size_t EditTimes::Mark(uint64_t id, uint64_t cluster, int64_t generation, bool has_arrived) {
  absl::MutexLock lock(&mu_);
  const auto found = edits_.find(id);
  if (found == edits_.end() || found->second.generation != generation) return 0;
  Edit& edit = found->second;
  const auto known = std::find(edit.settled.begin(), edit.settled.end(), cluster);
  if (known != edit.settled.end()) return edit.settled.size();
  if (arrivals_ >= kMostArrivals) {
    Leave(found, "too_many");
    return 0;
  }
  edit.settled.push_back(cluster);
  ++arrivals_;
  if (has_arrived) {
    edit.has_arrived = true;
    edit.arrived_at = clock_.SteadyNow();
  }
  return edit.settled.size();
}

void EditTimes::EndIfSettled(uint64_t id, const kube::Object& binding, int64_t generation) {
  const std::vector<api::TargetCluster> targets = api::BindingView(binding).DispatchTargets();
  absl::MutexLock lock(&mu_);
  const auto found = edits_.find(id);
  if (found == edits_.end() || found->second.generation != generation) return;
  const std::vector<uint64_t>& settled = found->second.settled;
  const bool all = std::all_of(targets.begin(), targets.end(), [&](const auto& target) {
    const uint64_t name = absl::HashOf(absl::string_view(target.name));
    return std::find(settled.begin(), settled.end(), name) != settled.end();
  });
  if (all) End(found);
}

void EditTimes::End(Edits::iterator edit) {
  const Edit& ended = edit->second;
  if (!ended.has_arrived) return Leave(edit, "no_cluster");
  const absl::Duration took = ended.arrived_at - ended.seen_at;
  if (took > kLongest) return Leave(edit, "late");
  registry_
      .GetHistogram("karmada_edit_to_applied_seconds",
                    "Time from the sight of an edited template to its arrival in the last of its "
                    "clusters.",
                    Buckets(), {{"kind", ended.kind}})
      .Observe(absl::ToDoubleSeconds(took));
  Erase(edit);
}

void EditTimes::Leave(Edits::iterator edit, const char* why) {
  CountLeft(edit->second.kind, why);
  Erase(edit);
}

void EditTimes::Erase(Edits::iterator edit) {
  arrivals_ -= edit->second.settled.size();
  edits_.erase(edit);
  under_way_ = edits_.size();
}

void EditTimes::LeaveLateOnes(base::SteadyTime now) {
  looked_at_ = now;
  for (auto edit = edits_.begin(); edit != edits_.end();) {
    const auto present = edit++;
    if (now - present->second.seen_at > kLongest) Leave(present, "late");
  }
}

void EditTimes::CountLeft(const std::string& kind, const char* why) {
  registry_
      .GetCounter("karmada_edits_not_timed_total",
                  "Edits of templates that karmada_edit_to_applied_seconds leaves out.",
                  {{"kind", kind}, {"reason", why}})
      .Increment();
}

}  // namespace works
