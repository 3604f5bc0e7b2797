#include "controllers/dependencies/attachments.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "api/binding.h"
#include "api/names.h"
#include "api/object_reference.h"
#include "api/reasons.h"
#include "api/resources.h"
#include "base/status.h"
#include "kube/client/errors.h"

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

// A reference has to name what it is about, in the referrer's namespace or outside all namespaces:
// the binding of an object of another namespace would be collected at once, because its owner is
// not in its own namespace.
absl::Status CheckReference(const api::DependentReference& reference, absl::string_view ns) {
  if (reference.name.empty() && reference.label_selector.is_null()) {
    return absl::InvalidArgumentError(absl::StrCat("the dependency on ", reference.api_version, " ",
                                                   reference.kind,
                                                   " has neither a name nor a labelSelector"));
  }
  if (!reference.ns.empty() && reference.ns != ns) {
    return absl::InvalidArgumentError(
        absl::StrCat("the dependency on ", reference.Describe(), " is in another namespace than ",
                     "the template (", ns, "): such dependencies do not follow"));
  }
  return absl::OkStatus();
}

}  // namespace

FindBinding Attachments::Finder() const {
  return [this](const kube::ObjectKey& key) { return client_.Find(api::ResourceBindings(), key); };
}

std::vector<kube::ObjectPtr> Attachments::AttachedTo(const kube::Object& referrer) const {
  const std::string label = DependedByLabel(referrer.key());
  const absl::string_view id = api::BindingView(referrer).PermanentId();
  std::vector<kube::ObjectPtr> attached =
      client_.ByIndex(api::ResourceBindings(), kDependedByIndex, label);
  std::erase_if(attached, [&](const kube::ObjectPtr& binding) {
    return binding->ns() != referrer.ns() || binding->Label(label) != id;
  });
  return attached;
}

absl::Status Attachments::FollowClusters(const kube::Object& referrer,
                                         const base::StopToken& stop) {
  base::ErrorList errors;
  for (const kube::ObjectPtr& attached : AttachedTo(referrer)) {
    const kube::Object after = WithClustersOf(*attached, referrer);
    errors.Add(kube::IgnoreGone(
        client_.Update(api::ResourceBindings(), attached, after, {}, stop).status()));
  }
  return errors.Join();
}

absl::StatusOr<bool> Attachments::Follow(const kube::ObjectPtr& referrer,
                                         absl::Span<const api::DependentReference> references,
                                         const base::StopToken& stop) {
  Steps steps;
  for (const kube::ObjectPtr& attached : AttachedTo(*referrer)) {
    const absl::StatusOr<bool> needed = IsNeeded(*attached, references, stop);
    if (needed.ok() && *needed) continue;
    steps.Add(needed.ok() ? Detach(attached, referrer->key(), stop) : needed.status());
  }
  for (const api::DependentReference& reference : references) {
    const absl::Status valid = CheckReference(reference, referrer->ns());
    steps.Add(valid.ok() ? AttachAll(referrer, reference, stop) : valid);
  }
  return steps.Result();
}

absl::Status Attachments::Release(const kube::Object& referrer, const base::StopToken& stop) {
  Steps steps;
  for (const kube::ObjectPtr& attached : AttachedTo(referrer)) {
    steps.Add(Detach(attached, referrer.key(), stop));
  }
  return base::Annotate(steps.Result().status(), "letting go of what ", referrer.key().ToString(),
                        " needed");
}

absl::StatusOr<bool> Attachments::IsNeeded(const kube::Object& attached,
                                           absl::Span<const api::DependentReference> references,
                                           const base::StopToken& stop) {
  const api::ObjectReference resource = api::BindingView(attached).Resource();
  const kube::Object unlabelled = kube::Object::Make(resource.gvk(), resource.key());
  const auto matched = [&](const kube::Object& object) {
    return std::any_of(references.begin(), references.end(),
                       [&](const auto& reference) { return reference.Matches(object); });
  };
  if (matched(unlabelled)) return true;
  const bool selectable = std::any_of(references.begin(), references.end(), [&](const auto& r) {
    return r.name.empty() && r.gvk() == resource.gvk();
  });
  if (!selectable) return false;
  ASSIGN_OR_RETURN(const kube::Resource kind, client_.mapper().ForKind(resource.gvk(), stop));
  const absl::StatusOr<kube::ObjectPtr> object = client_.Get(kind, resource.key(), stop);
  if (absl::IsNotFound(object.status())) return true;  // The binding goes with its owner.
  RETURN_IF_ERROR(object.status());
  return matched(**object);
}

absl::StatusOr<std::vector<kube::ObjectPtr>> Attachments::ObjectsOf(
    const api::DependentReference& reference, const base::StopToken& stop) {
  std::vector<kube::ObjectPtr> objects;
  const absl::StatusOr<kube::Resource> kind = client_.mapper().ForKind(reference.gvk(), stop);
  // The kind may be served later; then its objects come.
  if (kube::IsNoSuchKind(kind.status())) return objects;
  RETURN_IF_ERROR(kind.status());
  if (reference.name.empty()) {
    objects = client_.List(*kind, reference.ns);
    std::erase_if(objects, [&](const auto& object) { return !reference.Matches(*object); });
    return objects;
  }
  const absl::StatusOr<kube::ObjectPtr> object =
      client_.Get(*kind, {reference.ns, reference.name}, stop);
  if (object.ok()) objects.push_back(*object);
  RETURN_IF_ERROR(kube::IgnoreGone(object.status()));
  return objects;
}

absl::StatusOr<bool> Attachments::AttachAll(const kube::ObjectPtr& referrer,
                                            const api::DependentReference& reference,
                                            const base::StopToken& stop) {
  ASSIGN_OR_RETURN(const std::vector<kube::ObjectPtr> objects, ObjectsOf(reference, stop));
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
                   WithReferrer(existing.get(), object, *referrer, Finder()));
  const absl::StatusOr<kube::ObjectPtr> written =
      existing == nullptr
          ? client_.Create(api::ResourceBindings(), attached.binding, stop)
          : client_.Update(api::ResourceBindings(), existing, attached.binding, {}, stop);
  if (kube::AlreadyExists(written.status())) {
    return absl::AbortedError(
        absl::StrCat(key.ToString(), " has just been made by another writer"));
  }
  RETURN_IF_ERROR(base::Annotate(written.status(), "writing the binding of ", object.Describe()));
  if (*written == existing) return false;
  if (!attached.conflict.empty()) {
    recorder_.Warning(kube::InvolvedObject::Of(**written), api::reason::kDependencyPolicyConflict,
                      attached.conflict);
  }
  return true;
}

absl::StatusOr<bool> Attachments::Detach(const kube::ObjectPtr& attached,
                                         const kube::ObjectKey& referrer,
                                         const base::StopToken& stop) {
  ASSIGN_OR_RETURN(const kube::Object after, WithoutReferrer(*attached, referrer, Finder()));
  const absl::StatusOr<kube::ObjectPtr> written =
      client_.Update(api::ResourceBindings(), attached, after, {}, stop);
  RETURN_IF_ERROR(kube::IgnoreGone(written.status()));
  return written.ok() && *written != attached;
}

}  // namespace controllers
