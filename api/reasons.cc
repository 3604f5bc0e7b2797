// Composes the messages of conditions and events. Dashboards and alerts search for them, so they
// are upstream's words, mistakes in grammar included; what upstream does not tell (a reason, an
// advice) is added behind a separator, so that upstream's sentence stays the beginning.
// WhyUnhealthyIn takes such an addition off again: it must be changed together with the functions
// that compose it.

#include "api/reasons.h"

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "api/keys.h"

namespace api::message {

namespace {

// Stands between what a message states and the reason for it. Where upstream states it, its whole
// sentence comes first.
constexpr absl::string_view kBecause = ": ";
constexpr absl::string_view kUnhealthyAs = " as unhealthy.";

constexpr char kTakeOverObject[] =
    "To let Karmada take it over, annotate its template with "
    "work.karmada.io/conflict-resolution: overwrite, or set conflictResolution: Overwrite in the "
    "policy; its content there is then replaced by the template's and lost (keep a copy of it "
    "first), and from then on it is deleted there when the template is";
constexpr char kTakeOverNamespace[] =
    "To let Karmada take it over, annotate the Namespace of the control plane with "
    "work.karmada.io/conflict-resolution: overwrite; from then on the namespace is deleted there, "
    "with all that it contains, when that Namespace is";

// Upstream prints the slash even when there is no namespace.
std::string Slashed(const kube::ObjectKey& key) { return absl::StrCat(key.ns, "/", key.name); }

// Upstream's form of an object in events, "object(Kind/ns/name)".
std::string ObjectWord(absl::string_view kind, const kube::ObjectKey& object) {
  return absl::StrCat("object(", kind, "/", Slashed(object), ")");
}

// A key without a namespace is that of a cluster-scoped policy.
std::string PolicyWord(const kube::ObjectKey& policy) {
  return policy.ns.empty() ? absl::StrCat("cluster propagation policy(", policy.name, ")")
                           : absl::StrCat("propagation policy(", Slashed(policy), ")");
}

std::string Capitalized(std::string words) {
  words[0] = absl::ascii_toupper(static_cast<unsigned char>(words[0]));
  return words;
}

// A taint without a value lacks that part, as upstream's printing of the struct does.
std::string TaintWord(const Taint& taint) {
  const std::string value = taint.value.empty() ? "" : absl::StrCat("Value:", taint.value, ",");
  return absl::StrCat("{Key:", taint.key, ",", value, "Effect:", taint.effect, "}");
}

// Follows upstream's GenerateTaintsMessage.
std::string TaintsNow(absl::Span<const Taint> taints) {
  if (taints.empty()) return "cluster now does not have taints";
  const auto append_taint = [](std::string* out, const Taint& taint) {
    absl::StrAppend(out, TaintWord(taint));
  };
  return absl::StrCat("cluster now has taints([", absl::StrJoin(taints, ",", append_taint), "])");
}

}  // namespace

std::string PolicyApplied(absl::string_view policy) {
  return absl::StrCat("Apply ", policy, " succeed");
}

std::string PolicyNotApplied(absl::string_view policy, const absl::Status& why) {
  return absl::StrCat("Apply ", policy, " failed: ", why.message());
}

std::string PolicyPreempted(const kube::ObjectKey& preemptor, const kube::ObjectKey& holder) {
  return absl::StrCat(Capitalized(PolicyWord(preemptor)), " preempted ", PolicyWord(holder),
                      " successfully");
}

std::string PolicyNotPreempted(const kube::ObjectKey& preemptor, const kube::ObjectKey& holder,
                               const absl::Status& why) {
  return absl::StrCat(Capitalized(PolicyWord(preemptor)), " failed to preempt ", PolicyWord(holder),
                      ": ", why.message());
}

std::string DependenciesGot(absl::string_view dependencies) {
  return absl::StrCat("Get dependencies(", dependencies, ") succeed.");
}

std::string DependenciesOfClusterScoped(absl::string_view dependencies) {
  return absl::StrCat(
      "spec.propagateDeps of the policy is without effect for objects that have no namespace: what "
      "this one depends on does not follow (",
      dependencies, "). Policies have to select it.");
}

std::string DependencyPolicyConflict(bool conflict_resolution, bool preserve_on_deletion) {
  std::vector<std::string> parts;
  if (conflict_resolution) {
    parts.emplace_back("ConflictResolution conflicted (Overwrite vs Abort)");
  }
  if (preserve_on_deletion) {
    parts.emplace_back("PreserveResourcesOnDeletion conflicted (true vs false)");
  }
  return absl::StrCat("Dependency policy conflict detected: ", absl::StrJoin(parts, "; "), ".");
}

std::string WorksSynced(absl::string_view binding) {
  return absl::StrCat("Sync work of ", binding, " successful.");
}

std::string HeldBackTemplateUsed(absl::string_view cluster, bool is_released) {
  return absl::StrCat(
      "cluster ", cluster, " had no such object and got it as it is now, although ",
      is_released ? "no policy governs it any more" : "its policy has not let this state pass",
      "; clusters that had it keep what they have.");
}

std::string SuspendedWorkKept(absl::string_view cluster) {
  return absl::StrCat(
      "dispatching to cluster ", cluster, " is suspended, so the object stays there",
      " although the cluster is not chosen any more; it is removed when dispatching",
      " is resumed.");
}

std::string OwnerMissing(absl::string_view owner) {
  return absl::StrCat("this was made for ", owner, ", which is not there. It stays, because a ",
                      "backup that is being restored may bring that; if it is not to come, delete ",
                      "this, and what it has put into a cluster is deleted with it.");
}

std::string OverridePolicyApplied(absl::string_view policy, absl::string_view cluster) {
  return absl::StrCat("Apply ", policy, " for cluster(", cluster, ") succeed.");
}

std::string OverridePolicyNotApplied(absl::string_view policy, absl::string_view cluster,
                                     const absl::Status& why) {
  return absl::StrCat("Apply ", policy, " for cluster(", cluster, ") failed. ", why.message());
}

std::string BindingStatusAggregated(absl::string_view binding) {
  return absl::StrCat("Update ", binding, " with AggregatedStatus successfully.");
}

std::string QuotaSynced(const kube::ObjectKey& quota) {
  return absl::StrCat("Sync works for FederatedResourceQuota(", quota.ToString(), ") succeed.");
}

std::string QuotaStatusCollected(const kube::ObjectKey& quota) {
  return absl::StrCat("Collect status of FederatedResourceQuota(", quota.ToString(), ") succeed.");
}

std::string WorkSynced(const kube::ObjectKey& work, absl::string_view cluster) {
  return absl::StrCat("Sync work(", Slashed(work), ") to cluster(", cluster, ") successful.");
}

std::string WorkNotSynced(const kube::ObjectKey& work, absl::string_view cluster,
                          const absl::Status& why) {
  return absl::StrCat("Failed to sync work(", Slashed(work), ") to cluster(", cluster,
                      "), err: ", why.message());
}

std::string ManifestSynced(const kube::ObjectKey& object, absl::string_view cluster) {
  return absl::StrCat("Successfully applied resource(", Slashed(object), ") to cluster ", cluster);
}

std::string ManifestNotSynced(const kube::ObjectKey& object, absl::string_view cluster,
                              const absl::Status& why) {
  return absl::StrCat("Failed to create or update resource(", object.ToString(),
                      ") in member cluster(", cluster, "): ", why.message());
}

std::string ManifestDeleted(const kube::ObjectKey& object, absl::string_view cluster) {
  return absl::StrCat("Successfully deleted resource(", Slashed(object), ") in cluster ", cluster);
}

std::string ManifestNotDeleted(const kube::ObjectKey& object, absl::string_view cluster,
                               const absl::Status& why) {
  return absl::StrCat("Failed to delete resource(", Slashed(object), ") in member cluster(",
                      cluster, "): ", why.message());
}

std::string ManifestsNotRemoved(const absl::Status& why) {
  return absl::StrCat("Failed to remove all manifests from the cluster: ", why.message());
}

std::string ManifestsNotApplied(int applied, int total, const absl::Status& why) {
  return absl::StrCat("Failed to apply all manifests (", applied, "/", total, "): ", why.message());
}

std::string ObjectExistsUnmanaged(absl::string_view kind, const kube::ObjectKey& object,
                                  absl::string_view cluster) {
  return absl::StrCat("resource(kind=", kind, ", ", Slashed(object),
                      ") already exists in the cluster ", cluster, " and the ",
                      kConflictResolutionAnnotation,
                      " strategy value is empty, Karmada will not manage this resource");
}

// A Namespace has no policy of its own, and takes its content along when it is deleted.
std::string TakeOverAdvice(absl::string_view kind) {
  return kind == "Namespace" ? kTakeOverNamespace : kTakeOverObject;
}

std::string StatusReflected(absl::string_view kind, const kube::ObjectKey& object) {
  return absl::StrCat("Reflect status for ", ObjectWord(kind, object), " succeed.");
}

std::string StatusNotReflected(absl::string_view kind, const kube::ObjectKey& object,
                               const absl::Status& why) {
  return absl::StrCat("Reflect status for ", ObjectWord(kind, object),
                      " failed, err: ", why.message(), ".");
}

std::string HealthInterpreted(absl::string_view kind, const kube::ObjectKey& object, bool healthy) {
  return absl::StrCat("Interpret health of ", ObjectWord(kind, object),
                      healthy ? " as healthy." : kUnhealthyAs);
}

std::string UnhealthyBecause(absl::string_view kind, const kube::ObjectKey& object,
                             absl::string_view why) {
  return absl::StrCat(HealthInterpreted(kind, object, false), why.empty() ? "" : " ", why);
}

std::string UnhealthyFor(absl::string_view object, absl::string_view cluster,
                         absl::Duration duration, absl::string_view why) {
  return absl::StrCat(object, " in cluster ", cluster, " has been unhealthy for ",
                      absl::FormatDuration(duration), why.empty() ? "" : kBecause, why);
}

std::string WhyUnhealthyIn(absl::string_view message) {
  // The message of HealthInterpreted ends with the separator; that of UnhealthyFor has a duration
  // before it.
  if (const size_t said = message.find(kUnhealthyAs); said != absl::string_view::npos) {
    return std::string(
        absl::StripLeadingAsciiWhitespace(message.substr(said + kUnhealthyAs.size())));
  }
  const size_t said = message.find(" unhealthy for ");
  if (said == absl::string_view::npos) return "";
  const size_t at = message.find(kBecause, said);
  return at == absl::string_view::npos ? "" : std::string(message.substr(at + kBecause.size()));
}

std::string HealthNotInterpreted(absl::string_view kind, const kube::ObjectKey& object,
                                 const absl::Status& why) {
  return absl::StrCat("Interpret health of ", ObjectWord(kind, object),
                      " failed, err: ", why.message(), ".");
}

std::string ExecutionSpaceCreated(absl::string_view ns, absl::string_view cluster) {
  return absl::StrCat("Created execution space(", ns, ") for cluster(", cluster, ").");
}

std::string ExecutionSpaceNotCreated(absl::string_view ns, const absl::Status& why) {
  return absl::StrCat("Failed to create execution space(", ns, "): ", why.message());
}

std::string ExecutionSpaceRemoved(absl::string_view cluster) {
  return absl::StrCat("Removed execution space for cluster(", cluster, ").");
}

std::string ExecutionSpaceNotRemoved(absl::string_view cluster, const absl::Status& why) {
  return absl::StrCat("Failed to remove execution space for cluster(", cluster,
                      "): ", why.message());
}

std::string ClusterTainted(absl::Span<const Taint> taints) {
  return absl::StrCat("Taint cluster succeed: ", TaintsNow(taints), ".");
}

std::string ClusterNotTainted(const absl::Status& why) {
  return absl::StrCat("Taint cluster failed: ", why.message());
}

std::string TaintsUpdated(absl::string_view cluster, absl::Span<const Taint> taints) {
  return absl::StrCat("Update Cluster(", cluster, ") with taints(", TaintsNow(taints), ") succeed");
}

std::string ClusterClientFailed(const absl::Status& why) {
  return absl::StrCat("failed to create a ClusterClient: ", why.message());
}

std::string ApiEnablementsPartial(int groups) {
  return absl::StrCat("might collect partial APIEnablements(", groups, ") from the cluster");
}

}  // namespace api::message
