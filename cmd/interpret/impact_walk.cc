// Goes over all bindings and then over all Works, and asks both sets of rules what the loops of the
// controller manager would ask. Kinds whose rules do not differ are skipped at once (touched_
// remembers which operations of a kind are affected). Only a list of bindings or Works that cannot
// be read ends the walk; an object that cannot be read is reported as not compared. An object that
// is deleted between the list and its reading is left out silently.
//
// Without access to members, the member's object is imitated by the manifest with the recorded
// status. Whether that is good enough is tested with the old rule first (WhyNotFromRecord): if it
// does not answer about the imitation what the Work has recorded, the new rule's answer would say
// nothing either.

#include "cmd/interpret/impact_walk.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "api/binding.h"
#include "api/names.h"
#include "api/resources.h"
#include "base/status.h"
#include "base/stop_token.h"
#include "cmd/interpret/live_pages.h"
#include "cmd/interpret/live_rules.h"
#include "interpreter/typed_results.h"
#include "kube/client/errors.h"

namespace cmd::interpret {
namespace {

using interpreter::Operation;

// Operations that are asked about the object in a member.
constexpr Operation kOfMembers[] = {Operation::kRetain, Operation::kInterpretStatus,
                                    Operation::kInterpretHealth};
// Operations that are asked about the template alone.
constexpr Operation kOfTemplates[] = {Operation::kInterpretReplica, Operation::kInterpretComponent,
                                      Operation::kInterpretDependency};

constexpr size_t kProgressEvery = 50;

// Returns what the Work has recorded of the manifest; nullopt if the member has reported nothing
// yet.
std::optional<api::ManifestStatus> RecordedOf(const api::WorkView& work,
                                              const kube::Object& manifest, int64_t ordinal) {
  const auto wanted = api::ManifestIdentifier::Of(manifest, ordinal);
  for (api::ManifestStatus& status : work.ManifestStatuses()) {
    if (status.identifier == wanted) return std::move(status);
  }
  return std::nullopt;
}

}  // namespace

ImpactWalk::ImpactWalk(tool::LiveConnection& live, const ImpactSides& sides, MemberSource* members,
                       ImpactReport& report)
    : live_(live), sides_(sides), members_(members), report_(report) {}

const ImpactWalk::Operations* ImpactWalk::TouchedOf(const kube::Gvk& gvk) {
  const auto [found, is_new] = touched_.try_emplace(gvk);
  if (is_new) {
    for (const Operation op : interpreter::kAllOperations) {
      if (sides_.differ(gvk, op)) found->second.insert(op);
    }
  }
  return found->second.empty() ? nullptr : &found->second;
}

void ImpactWalk::NoteProgress(tool::Console& console, absl::string_view what) {
  if (++visited_ % kProgressEvery != 0) return;
  tool::ShowProgress(
      console, absl::StrCat(what, ": ", visited_, " bindings and Works read, ", report_.changed(),
                            " of ", report_.compared(), " answers change"));
}

absl::Status ImpactWalk::Run(const std::string& ns, tool::Console& console) {
  std::vector<const kube::Resource*> kinds = {&api::ResourceBindings()};
  // Templates without a namespace are in none.
  if (ns.empty()) kinds.push_back(&api::ClusterResourceBindings());
  for (const kube::Resource* bindings : kinds) {
    RETURN_IF_ERROR(VisitAll(live_.client, *bindings, ns, [&](const kube::Object& binding) {
      NoteProgress(console, bindings->gvk.kind);
      LookAtBinding(binding);
      return absl::OkStatus();
    }));
  }
  RETURN_IF_ERROR(VisitAll(live_.client, api::Works(), "", [&](const kube::Object& work) {
    NoteProgress(console, api::Works().gvk.kind);
    LookAtWork(work, ns);
    return absl::OkStatus();
  }));
  tool::ShowProgress(console, "");
  return absl::OkStatus();
}

void ImpactWalk::LookAtBinding(const kube::Object& binding) {
  const api::ObjectReference reference = api::BindingView(binding).Resource();
  const Operations* operations = TouchedOf(reference.gvk());
  if (operations == nullptr) return;
  const auto not_compared = [&](const std::string& reason) {
    for (const Operation op : *operations) {
      // These are asked about the Works, which the second half of the walk visits.
      if (std::count(std::begin(kOfMembers), std::end(kOfMembers), op) > 0) continue;
      report_.AddNotCompared(reference.gvk(), op, reason);
    }
  };
  const auto resource = FindKind(live_.discovery, reference.gvk());
  if (!resource.has_value()) return not_compared("the control plane does not serve the kind");
  const auto object = live_.client.Get(*resource, reference.key(), base::StopToken());
  if (kube::IsGone(object.status()))
    return;  // It has just been deleted: nothing is asked about it.
  if (!object.ok()) return not_compared(std::string(object.status().message()));
  report_.AddObject();
  AskAboutTemplate(*object, binding, *operations);
}

void ImpactWalk::AskAboutTemplate(const kube::Object& object, const kube::Object& binding,
                                  const Operations& operations) {
  const api::BindingView view(binding);
  for (const Operation op : kOfTemplates) {
    if (operations.count(op) > 0) Ask({.asked = {.operation = op, .object = object}});
  }
  if (operations.count(Operation::kReviseReplica) > 0 && view.IsWorkload()) {
    for (const api::TargetCluster& target : view.DispatchTargets()) {
      Ask({{.operation = Operation::kReviseReplica, .object = object, .replicas = target.replicas},
           target.name});
    }
  }
  if (operations.count(Operation::kAggregateStatus) == 0 || view.AggregatedStatus().empty()) return;
  absl::StatusOr<json::Value> items = interpreter::ReadAggregatedItems(view.AggregatedStatus());
  if (!items.ok()) {
    return report_.AddNotCompared(object.gvk(), Operation::kAggregateStatus,
                                  std::string(items.status().message()));
  }
  Ask({.asked = {.operation = Operation::kAggregateStatus,
                 .object = object,
                 .items = *std::move(items)}});
}

void ImpactWalk::LookAtWork(const kube::Object& work, const std::string& ns) {
  const auto cluster = api::ClusterOfExecutionNamespace(work.ns());
  if (!cluster.ok()) return;  // It is of no member.
  const api::WorkView view(work);
  int64_t ordinal = 0;
  for (const json::Value& value : view.Manifests()) {
    // A manifest's status names it by its position, too, so skipped manifests count.
    const int64_t at = ordinal++;
    Placed placed{kube::Object(value), *cluster, std::nullopt};
    const Operations* operations = TouchedOf(placed.manifest.gvk());
    if (operations == nullptr || (!ns.empty() && placed.manifest.ns() != ns)) continue;
    report_.AddObject();
    placed.recorded = RecordedOf(view, placed.manifest, at);
    if (members_ != nullptr) {
      AskAboutMember(placed, *operations);
    } else {
      AskFromRecord(placed, *operations);
    }
  }
}

void ImpactWalk::AskAboutMember(const Placed& placed, const Operations& operations) {
  const kube::Gvk gvk = placed.manifest.gvk();
  const auto resource = FindKind(live_.discovery, gvk);
  absl::StatusOr<std::optional<kube::Object>> observed =
      absl::UnavailableError("the control plane does not serve the kind");
  if (resource.has_value()) {
    observed = members_->Get(placed.cluster, *resource, placed.manifest.key());
  }
  for (const Operation op : kOfMembers) {
    if (operations.count(op) == 0) continue;
    if (!observed.ok()) {
      report_.AddNotCompared(gvk, op, std::string(observed.status().message()));
    } else if (observed->has_value()) {
      // Retain is asked about the manifest and the member's object, the others about the latter
      // alone.
      const bool retains = op == Operation::kRetain;
      Ask({{.operation = op,
            .object = retains ? placed.manifest : **observed,
            .observed = **observed},
           placed.cluster});
    }  // Nothing is asked about an object that the member does not have.
  }
}

void ImpactWalk::AskFromRecord(const Placed& placed, const Operations& operations) {
  kube::Object rebuilt = placed.manifest;
  if (placed.recorded.has_value() && !placed.recorded->status.is_null()) {
    rebuilt.Set({"status"}, placed.recorded->status);
  }
  for (const Operation op : kOfMembers) {
    if (operations.count(op) == 0) continue;
    const std::string why = WhyNotFromRecord(placed, rebuilt, op);
    if (!why.empty()) {
      report_.AddNotCompared(placed.manifest.gvk(), op, why);
      continue;
    }
    report_.AddRemark(
        "status and health were asked about manifests with the status that their Works record; a "
        "rule that reads fields which a member's controllers write elsewhere may answer otherwise "
        "there: --members asks about the members' objects");
    Ask({{.operation = op, .object = rebuilt}, placed.cluster});
  }
}

std::string ImpactWalk::WhyNotFromRecord(const Placed& placed, const kube::Object& rebuilt,
                                         Operation op) {
  if (op == Operation::kRetain) return "it needs the member's object, which --members reads";
  if (!placed.recorded.has_value()) return "the Work records nothing of the member's object";
  if (!RecordsWholeStatus(rebuilt)) {
    return "Works record a part of the status only: --members reads the members' objects";
  }
  if (op != Operation::kInterpretHealth || placed.recorded->health.empty()) return "";
  const SideAnswer old = sides_.before.Ask({.operation = op, .object = rebuilt});
  const std::string expected = !old.error.empty()   ? api::kHealthUnknown
                               : old.value.AsBool() ? api::kHealthy
                                                    : api::kUnhealthy;
  if (!old.unknown.empty() || placed.recorded->health == expected) return "";
  return "the old rule's answer is not the one that the Work records: --members reads the members' "
         "objects";
}

bool ImpactWalk::RecordsWholeStatus(const kube::Object& rebuilt) {
  // A rule that copies the whole status also copies a field that it cannot know.
  constexpr char kProbe[] = "fieldThatNoRuleKnows";
  if (!rebuilt.status().is_null() && !rebuilt.status().is_object()) return false;
  kube::Object probed = rebuilt;
  probed.Set({"status", kProbe}, true);
  const SideAnswer answer =
      sides_.before.Ask({.operation = Operation::kInterpretStatus, .object = std::move(probed)});
  // What a webhook records is not known here; its answer about health is not either.
  return !answer.unknown.empty() || answer.value[kProbe].AsBool();
}

void ImpactWalk::Ask(ImpactQuestion question) {
  report_.Add(question, sides_.before.Ask(question.asked), sides_.after.Ask(question.asked));
}

}  // namespace cmd::interpret
