// Follow first looks whether each reference says what it is about; only if all do, attached
// bindings that no reference names are let go of, and then the bindings of all named objects are
// made or edited. One failure does not keep other objects from being attached; all errors are
// joined. Which bindings are attached to a referrer is found by an index over labels and entries,
// so that nothing has to be remembered about it.
//
// Two referrers may write one binding at the same time. A write carries the version that it was
// computed from where it changes a list or removes a referrer; the one that is refused is repeated
// by its next pass. Only reported conflicts are remembered (conflicts_, under mu_, which is not
// held during a look-up or a write); after a restart an event about one may be repeated.

#include "controllers/dependencies/attachments.h"

#include <algorithm>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/algorithm/container.h"
#include "absl/container/flat_hash_set.h"
#include "absl/strings/str_cat.h"
#include "api/binding.h"
#include "api/names.h"
#include "api/object_reference.h"
#include "api/reasons.h"
#include "api/resources.h"
#include "base/status.h"
#include "controllers/dependencies/dependency_objects.h"
#include "kube/client/errors.h"
#include "works/stored_size.h"

namespace controllers {
namespace {

// Adds up independent steps, each of which may have written something.
class Steps {
 public:
  void Add(const absl::StatusOr<bool>& step) {
    errors_.Add(step.status());
    wrote_ = wrote_ || (step.ok() && *step);
  }
  absl::StatusOr<bool> Result() const {
    RETURN_IF_ERROR(errors_.Join());
    return wrote_;
  }

 private:
  base::ErrorList errors_;
  bool wrote_ = false;
};

// A write is refused when the binding has changed meanwhile: also its demands of conflicts and
// deletion are computed from the whole.
constexpr kube::UpdateOptions kUnchanged = {.precondition =
                                                kube::UpdateOptions::Precondition::kAlways};

// Returns whether the reference may be about objects of the kind, in whatever version.
bool IsOfKind(const api::DependentReference& reference, const kube::Gvk& kind) {
  const kube::Gvk gvk = reference.gvk();
  return gvk.group == kind.group && gvk.kind == kind.kind;
}

// Says so when a binding that could not be written may be too large for the server's storage: it
// names all clusters of each binding that needs it.
absl::Status ExplainedBySize(const kube::Object& attached, const absl::Status& written) {
  const std::optional<size_t> bytes = works::SuspiciousSize(attached, written);
  if (!bytes.has_value()) return written;
  return base::Annotate(written, attached.spec()["requiredBy"].size(),
                        " bindings need it, and with all their clusters it would have ", *bytes,
                        " bytes, while etcd stores ", works::kEtcdBytes,
                        " by default; let some of the workloads use a copy of the object");
}

}  // namespace

std::vector<kube::ObjectPtr> Attachments::AttachedTo(const kube::ObjectKey& referrer) const {
  std::vector<kube::ObjectPtr> attached;
  for (const std::string& key : KeysOfReferrer(referrer)) {
    for (kube::ObjectPtr& binding : client_.ByIndex(api::ResourceBindings(), kReferrerIndex, key)) {
      if (binding->ns() != referrer.ns) continue;
      if (std::find(attached.begin(), attached.end(), binding) == attached.end()) {
        attached.push_back(std::move(binding));
      }
    }
  }
  return attached;
}

absl::StatusOr<bool> Attachments::FollowClusters(const kube::Object& referrer,
                                                 const base::StopToken& stop) {
  bool wrote = false;
  base::ErrorList errors;
  for (const kube::ObjectPtr& attached : AttachedTo(referrer.key())) {
    const kube::Object after = WithClustersOf(*attached, referrer, lookups_.still_in);
    const absl::StatusOr<kube::ObjectPtr> now =
        client_.Update(api::ResourceBindings(), attached, after, kUnchanged, stop);
    wrote = wrote || (now.ok() && *now != attached);
    errors.Add(kube::IgnoreGone(ExplainedBySize(after, now.status())));
  }
  RETURN_IF_ERROR(errors.Join());
  return wrote;
}

bool Attachments::AwaitsMembers(const kube::Object& referrer) const {
  for (const kube::ObjectPtr& attached : AttachedTo(referrer.key())) {
    for (const std::string& cluster : ClustersLeft(*attached, referrer)) {
      if (!MayStillBeIn(client_, referrer, cluster)) return true;
    }
  }
  return false;
}

absl::StatusOr<bool> Attachments::Follow(const kube::ObjectPtr& referrer, const Needs& needs,
                                         const base::StopToken& stop) {
  Steps steps;
  bool complete = needs.complete;
  std::vector<const api::DependentReference*> followed;
  for (const api::DependentReference& reference : needs.references) {
    absl::Status checked = CheckReference(client_, reference, stop);
    complete = complete && checked.ok();
    if (checked.ok()) checked = CheckFollows(reference, referrer->ns());
    if (checked.ok()) {
      followed.push_back(&reference);
    } else {
      steps.Add(checked);
    }
  }
  if (complete) steps.Add(DetachUnneeded(*referrer, needs.references, stop));
  for (const api::DependentReference* reference : followed) {
    steps.Add(AttachAll(referrer, *reference, stop));
  }
  return steps.Result();
}

absl::Status Attachments::Release(const kube::ObjectKey& referrer, const base::StopToken& stop) {
  Steps steps;
  for (const kube::ObjectPtr& attached : AttachedTo(referrer)) {
    steps.Add(Detach(attached, referrer, stop));
  }
  return base::Annotate(steps.Result().status(), "letting go of what ", referrer.ToString(),
                        " needed");
}

// A template may name thousands of objects, and as many bindings may be attached to it: each of
// these is looked up instead of being compared with each reference.
struct Attachments::FiledReferences {
  absl::flat_hash_set<std::string> named;
  std::vector<const api::DependentReference*> selecting;

  explicit FiledReferences(absl::Span<const api::DependentReference> references) {
    for (const api::DependentReference& reference : references) {
      if (reference.name.empty()) {
        selecting.push_back(&reference);
      } else {
        named.insert(NameOf(reference.gvk(), {reference.ns, reference.name}));
      }
    }
  }
  // In whatever version.
  static std::string NameOf(const kube::Gvk& gvk, const kube::ObjectKey& key) {
    return absl::StrCat(gvk.group, " ", gvk.kind, " ", key.ns, " ", key.name);
  }
};

absl::StatusOr<bool> Attachments::DetachUnneeded(
    const kube::Object& referrer, absl::Span<const api::DependentReference> references,
    const base::StopToken& stop) {
  Steps steps;
  const FiledReferences filed(references);
  for (const kube::ObjectPtr& attached : AttachedTo(referrer.key())) {
    const absl::StatusOr<bool> needed = IsNeeded(*attached, filed, stop);
    if (needed.ok() && *needed) continue;
    steps.Add(needed.ok() ? Detach(attached, referrer.key(), stop) : needed.status());
  }
  return steps.Result();
}

absl::StatusOr<bool> Attachments::IsNeeded(const kube::Object& attached,
                                           const FiledReferences& references,
                                           const base::StopToken& stop) {
  const api::ObjectReference resource = api::BindingView(attached).Resource();
  if (references.named.contains(FiledReferences::NameOf(resource.gvk(), resource.key()))) {
    return true;
  }
  std::vector<const api::DependentReference*> selecting;
  for (const api::DependentReference* reference : references.selecting) {
    if (reference->ns == resource.ns && IsOfKind(*reference, resource.gvk())) {
      selecting.push_back(reference);
    }
  }
  if (selecting.empty()) return false;
  ASSIGN_OR_RETURN(const kube::Resource kind, client_.mapper().ForKind(resource.gvk(), stop));
  const absl::StatusOr<kube::ObjectPtr> object = client_.Get(kind, resource.key(), stop);
  if (kube::IsGone(object.status())) return true;  // Its owner is gone, too.
  RETURN_IF_ERROR(object.status());
  return absl::c_any_of(selecting, [&](const api::DependentReference* reference) {
    return reference->Selects((*object)->labels());
  });
}

absl::StatusOr<bool> Attachments::AttachAll(const kube::ObjectPtr& referrer,
                                            const api::DependentReference& reference,
                                            const base::StopToken& stop) {
  ASSIGN_OR_RETURN(const std::vector<kube::ObjectPtr> objects, ObjectsOf(client_, reference, stop));
  Steps steps;
  for (const kube::ObjectPtr& object : objects) {
    if (!object->IsDeleting()) steps.Add(Attach(referrer, *object, stop));
  }
  return steps.Result();
}

absl::StatusOr<bool> Attachments::Attach(const kube::ObjectPtr& referrer,
                                         const kube::Object& object, const base::StopToken& stop) {
  const kube::ObjectKey key{std::string(referrer->ns()),
                            api::BindingName(object.kind(), object.name())};
  const kube::ObjectPtr existing = client_.Find(api::ResourceBindings(), key);
  // A referrer that is in no cluster needs nothing that is not there yet.
  if (existing == nullptr && api::BindingView(*referrer).Clusters().empty()) return false;
  ASSIGN_OR_RETURN(const Attached attached,
                   WithReferrer(existing.get(), object, *referrer, lookups_));
  const absl::StatusOr<kube::ObjectPtr> written =
      existing == nullptr
          ? client_.Create(api::ResourceBindings(), attached.binding, stop)
          : client_.Update(api::ResourceBindings(), existing, attached.binding, {}, stop);
  if (kube::AlreadyExists(written.status())) {
    return absl::AbortedError(
        absl::StrCat(key.ToString(), " has just been made by another writer"));
  }
  RETURN_IF_ERROR(base::Annotate(ExplainedBySize(attached.binding, written.status()),
                                 "writing the binding of ", object.Describe()));
  ReportConflict(**written, attached.conflict);
  return *written != existing;
}

void Attachments::ReportConflict(const kube::Object& attached,
                                 std::optional<std::string> conflict) {
  {
    absl::MutexLock lock(&mu_);
    // The usual case, and a cheap one: nothing was computed, and no conflict is known that could
    // have ended.
    if (!conflict.has_value() && !conflicts_.contains(attached.key())) return;
  }
  if (!conflict.has_value()) conflict = ConflictAbout(attached, lookups_.find);
  {
    absl::MutexLock lock(&mu_);
    if (conflict->empty()) {
      conflicts_.erase(attached.key());
      return;
    }
    std::string& reported = conflicts_[attached.key()];
    if (reported == *conflict) return;
    reported = *conflict;
  }
  recorder_.Warning(kube::InvolvedObject::Of(attached), api::reason::kDependencyPolicyConflict,
                    *conflict);
}

void Attachments::Forget(const kube::ObjectKey& attached) {
  absl::MutexLock lock(&mu_);
  conflicts_.erase(attached);
}

absl::StatusOr<bool> Attachments::Detach(const kube::ObjectPtr& attached,
                                         const kube::ObjectKey& referrer,
                                         const base::StopToken& stop) {
  const kube::Object after = WithoutReferrer(*attached, referrer, lookups_.find);
  const absl::StatusOr<kube::ObjectPtr> written =
      client_.Update(api::ResourceBindings(), attached, after, kUnchanged, stop);
  RETURN_IF_ERROR(kube::IgnoreGone(written.status()));
  ReportConflict(after, std::nullopt);
  return written.ok() && *written != attached;
}

}  // namespace controllers
