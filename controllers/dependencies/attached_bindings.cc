#include "controllers/dependencies/attached_bindings.h"

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "api/binding.h"
#include "api/binding_owner.h"
#include "api/keys.h"
#include "api/names.h"
#include "api/object_reference.h"
#include "api/reasons.h"
#include "api/resources.h"
#include "base/status.h"
#include "kube/meta/controller_ref.h"

namespace controllers {
namespace {

using Referrers = std::vector<api::BindingSnapshot>;

// How conflicts and deletion are to be handled.
struct Demands {
  bool overwrite = false, preserve = false;
  friend bool operator==(const Demands&, const Demands&) = default;
};

Demands DemandsOf(const kube::Object& binding) {
  const api::BindingView view(binding);
  return {view.ConflictResolution() == api::kResolveOverwrite,
          view.PreserveResourcesOnDeletion().value_or(false)};
}

void RemoveReferrer(const kube::ObjectKey& referrer, kube::Object& attached) {
  Referrers left = api::BindingView(attached).RequiredBy();
  std::erase_if(left, [&](const api::BindingSnapshot& entry) {
    return entry.ns == referrer.ns && entry.name == referrer.name;
  });
  attached.EraseLabel(DependedByLabel(referrer));
  json::Value required_by = json::Value::Array();
  for (const api::BindingSnapshot& entry : left) required_by.Append(entry.ToJson());
  attached.Set({"spec", "requiredBy"}, std::move(required_by));
  if (left.empty()) attached.Erase({"spec", "requiredBy"});
}

// Those who demand something, and those who do not.
struct Camps {
  std::vector<std::string> with, without;

  void Add(bool demands, const kube::ObjectKey& referrer) {
    (demands ? with : without).push_back(referrer.ToString());
  }
  bool Differ() const { return !with.empty() && !without.empty(); }
};

// Returns "a, b, c and 4 more".
std::string Some(const std::vector<std::string>& names) {
  constexpr size_t kShown = 3;
  const size_t shown = std::min(kShown, names.size());
  const std::string text = absl::StrJoin(names.begin(), names.begin() + shown, ", ");
  const size_t left = names.size() - shown;
  return left == 0 ? text : absl::StrCat(text, " and ", left, " more");
}

// Returns upstream's text, followed by who demands what, and what counts.
std::string ConflictText(const Camps& overwriting, const Camps& preserving) {
  std::string text =
      api::message::DependencyPolicyConflict(overwriting.Differ(), preserving.Differ());
  if (overwriting.Differ()) {
    absl::StrAppend(&text, " Overwrite is demanded by ", Some(overwriting.with), ", Abort by ",
                    Some(overwriting.without), "; Overwrite counts.");
  }
  if (preserving.Differ()) {
    absl::StrAppend(&text, " Preservation is demanded by ", Some(preserving.with), ", deletion by ",
                    Some(preserving.without), "; preservation counts.");
  }
  return text;
}

// Sets on `attached` how conflicts and deletion are handled, as the bindings that need it demand,
// after the traces of those that do not exist any more have been removed. Returns the text about
// different demands, "" for none.
std::string FollowReferrers(const FindBinding& find, kube::Object& attached) {
  Camps overwriting, preserving;
  for (const api::BindingSnapshot& referrer : api::BindingView(attached).RequiredBy()) {
    const kube::ObjectKey key{referrer.ns, referrer.name};
    const kube::ObjectPtr binding = find(key);
    if (binding == nullptr) {
      RemoveReferrer(key, attached);
      continue;
    }
    const Demands demands = DemandsOf(*binding);
    overwriting.Add(demands.overwrite, key);
    preserving.Add(demands.preserve, key);
  }
  // A policy that placed the binding determines this.
  if (!attached.spec()["placement"].is_null()) return "";
  if (overwriting.with.empty() && overwriting.without.empty()) {
    attached.Erase({"spec", "conflictResolution"});
    attached.Erase({"spec", "preserveResourcesOnDeletion"});
    return "";
  }
  attached.Set({"spec", "conflictResolution"},
               overwriting.with.empty() ? api::kResolveAbort : api::kResolveOverwrite);
  attached.Set({"spec", "preserveResourcesOnDeletion"}, !preserving.with.empty());
  if (!overwriting.Differ() && !preserving.Differ()) return "";
  return ConflictText(overwriting, preserving);
}

// Returns the place of the referrer's entry in spec.requiredBy. Thousands of bindings may need one
// object, so the entries are not decoded.
std::optional<size_t> EntryOf(const kube::Object& attached, const kube::Object& referrer) {
  const json::Value& entries = attached.spec()["requiredBy"];
  for (size_t i = 0; i < entries.size(); ++i) {
    const json::Value& entry = entries.At(i);
    if (entry["name"].AsString() == referrer.name() &&
        entry["namespace"].AsString() == referrer.ns()) {
      return i;
    }
  }
  return std::nullopt;
}

json::Value EntryFor(const kube::Object& referrer) {
  return api::BindingSnapshot{std::string(referrer.ns()), std::string(referrer.name()),
                              api::BindingView(referrer).Clusters()}
      .ToJson();
}

// Returns whether the binding has everything that the referrer demands, and nothing beyond that
// could be due to an earlier demand of it.
bool Satisfies(const kube::Object& attached, const kube::Object& referrer) {
  const std::optional<size_t> entry = EntryOf(attached, referrer);
  if (!entry.has_value() || attached.spec()["requiredBy"].At(*entry) != EntryFor(referrer) ||
      attached.Label(DependedByLabel(referrer.key())) != api::BindingView(referrer).PermanentId()) {
    return false;
  }
  if (!attached.spec()["placement"].is_null()) return true;
  return attached.spec().Has("conflictResolution") &&
         attached.spec().Has("preserveResourcesOnDeletion") &&
         DemandsOf(attached) == DemandsOf(referrer);
}

// Returns a binding of `object` that nobody needs yet.
kube::Object NewBinding(const kube::Object& object, absl::string_view ns) {
  kube::Object binding =
      kube::Object::Make(api::ResourceBindings().gvk,
                         {std::string(ns), api::BindingName(object.kind(), object.name())});
  binding.AddFinalizer(api::kBindingFinalizer);
  binding.Set({"spec", "resource"}, api::ObjectReference::Of(object).ToJson());
  return binding;
}

// Makes the existing binding refer to the object, and belong to it.
absl::Status Renew(const kube::Object& object, kube::Object& binding) {
  RETURN_IF_ERROR(api::CheckBindingOwner(binding, kube::ControllerRef(object)));
  if (binding.ControllerOwner().uid.empty()) {
    json::Value owners = binding.metadata()["ownerReferences"];
    if (!owners.is_array()) owners = json::Value::Array();
    owners.Append(kube::ControllerRef(object).ToJson());
    binding.Set({"metadata", "ownerReferences"}, std::move(owners));
  }
  const api::ObjectReference recorded = api::BindingView(binding).Resource();
  if (recorded.uid == object.uid() && !recorded.resource_version.empty()) return absl::OkStatus();
  binding.Set({"spec", "resource"}, api::ObjectReference::Of(object).ToJson());
  return absl::OkStatus();
}

// Returns whether somebody has changed how conflicts and deletion are handled.
bool DemandsChanged(const kube::Object& before, const kube::Object& after) {
  return before.spec()["conflictResolution"] != after.spec()["conflictResolution"] ||
         before.spec()["preserveResourcesOnDeletion"] !=
             after.spec()["preserveResourcesOnDeletion"];
}

std::string LabelKey(absl::string_view label) { return absl::StrCat("label ", label); }
std::string EntryKey(absl::string_view ns, absl::string_view name) {
  return absl::StrCat("entry ", ns, "/", name);
}

}  // namespace

std::string DependedByLabel(const kube::ObjectKey& binding) {
  return absl::StrCat(api::kDependedByLabelPrefix, api::DependedByHash(binding.ns, binding.name));
}

std::vector<std::string> ReferrerKeys(const kube::Object& attached) {
  std::vector<std::string> keys;
  for (const json::Member& label : attached.labels().members()) {
    if (absl::StartsWith(label.name(), api::kDependedByLabelPrefix)) {
      keys.push_back(LabelKey(label.name()));
    }
  }
  for (const json::Value& entry : attached.spec()["requiredBy"].items()) {
    keys.push_back(EntryKey(entry["namespace"].AsString(), entry["name"].AsString()));
  }
  return keys;
}

std::vector<std::string> KeysOfReferrer(const kube::ObjectKey& referrer) {
  return {LabelKey(DependedByLabel(referrer)), EntryKey(referrer.ns, referrer.name)};
}

std::vector<kube::ObjectKey> ReferrersContradicted(const kube::Object& before,
                                                   const kube::Object& after,
                                                   const FindBinding& find) {
  const bool demands = after.spec()["placement"].is_null() && DemandsChanged(before, after);
  const json::Value& old = before.spec()["requiredBy"];
  const json::Value& entries = after.spec()["requiredBy"];
  std::vector<kube::ObjectKey> keys;
  for (size_t i = 0; i < entries.size(); ++i) {
    const json::Value& entry = entries.At(i);
    const bool same = i < old.size() && old.At(i) == entry;
    if (same && !demands) continue;
    kube::ObjectKey key{entry["namespace"].ToString(), entry["name"].ToString()};
    const kube::ObjectPtr referrer = find(key);
    if (referrer == nullptr || !api::BindingView(*referrer).PropagateDeps()) continue;
    const bool contradicts = (!same && entry != EntryFor(*referrer)) ||
                             (demands && DemandsOf(after) != DemandsOf(*referrer));
    if (contradicts) keys.push_back(std::move(key));
  }
  return keys;
}

absl::StatusOr<Attached> WithReferrer(const kube::Object* existing, const kube::Object& object,
                                      const kube::Object& referrer, const FindBinding& find) {
  Attached attached;
  kube::Object& binding = attached.binding;
  binding = existing == nullptr ? NewBinding(object, referrer.ns()) : *existing;
  RETURN_IF_ERROR(Renew(object, binding));
  if (Satisfies(binding, referrer)) return attached;
  binding.SetLabel(DependedByLabel(referrer.key()), api::BindingView(referrer).PermanentId());
  json::Value entries = binding.spec()["requiredBy"];
  if (!entries.is_array()) entries = json::Value::Array();
  const std::optional<size_t> own = EntryOf(binding, referrer);
  if (own.has_value()) {
    entries.MutableAt(*own) = EntryFor(referrer);
  } else {
    entries.Append(EntryFor(referrer));
  }
  binding.Set({"spec", "requiredBy"}, std::move(entries));
  attached.conflict = FollowReferrers(find, binding);
  return attached;
}

kube::Object WithClustersOf(const kube::Object& attached, const kube::Object& referrer) {
  const std::optional<size_t> own = EntryOf(attached, referrer);
  if (!own.has_value()) return attached;
  json::Value entries = attached.spec()["requiredBy"];
  if (entries.At(*own) == EntryFor(referrer)) return attached;
  entries.MutableAt(*own) = EntryFor(referrer);
  kube::Object after = attached;
  after.Set({"spec", "requiredBy"}, std::move(entries));
  return after;
}

kube::Object WithoutReferrer(const kube::Object& attached, const kube::ObjectKey& referrer,
                             const FindBinding& find) {
  kube::Object after = attached;
  RemoveReferrer(referrer, after);
  FollowReferrers(find, after);
  return after;
}

}  // namespace controllers
