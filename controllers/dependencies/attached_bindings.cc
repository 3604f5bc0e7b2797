// Each function computes the next state of an attached binding from its present one and its
// referrers; who writes it, and when, is in attachments.cc. Adding or removing a referrer takes the
// same steps: its entry in spec.requiredBy, its label (which by a collision of hashes may be that
// of another referrer, too), then everything that follows from all referrers together
// (FollowReferrers): entries of other namespaces are removed, and the binding overwrites or
// preserves if one of them does. The other half compares two states of a binding and finds the
// referrers that have to look at it again.
//
// One binding may have thousands of referrers, each of which has a pass when it changes. So a
// referrer that has everything it demands is recognised without a look at the others (Satisfies),
// entries are compared as JSON, and only those that differ are decoded.

#include "controllers/dependencies/attached_bindings.h"

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "api/binding.h"
#include "api/binding_owner.h"
#include "api/keys.h"
#include "api/names.h"
#include "api/object_reference.h"
#include "api/resources.h"
#include "base/status.h"
#include "controllers/dependencies/demands.h"
#include "kube/meta/controller_ref.h"

namespace controllers {
namespace {

using Referrers = std::vector<api::BindingSnapshot>;

// Returns the permanent ids of the referrers in spec.requiredBy that have this label. There may be
// several, because its name ends with a hash of 32 bits.
std::vector<std::string> IdsUnder(const std::string& label, const kube::Object& attached,
                                  const FindBinding& find) {
  std::vector<std::string> ids;
  for (const json::Value& entry : attached.spec()["requiredBy"].items()) {
    const kube::ObjectKey key{entry["namespace"].ToString(), entry["name"].ToString()};
    if (key.ns != attached.ns() || DependedByLabel(key) != label) continue;
    const kube::ObjectPtr referrer = find(key);
    if (referrer != nullptr) ids.emplace_back(api::BindingView(*referrer).PermanentId());
  }
  return ids;
}

bool Contains(const std::vector<std::string>& ids, absl::string_view id) {
  return std::find(ids.begin(), ids.end(), id) != ids.end();
}

// Leaves the label of a referrer that has been removed to another one whose label it is, too.
void HandOver(const std::string& label, const FindBinding& find, kube::Object& attached) {
  const std::vector<std::string> ids = IdsUnder(label, attached, find);
  if (ids.empty()) {
    attached.EraseLabel(label);
  } else if (!Contains(ids, attached.Label(label))) {
    attached.SetLabel(label, ids.front());
  }
}

void SetReferrers(const Referrers& referrers, kube::Object& attached) {
  json::Value required_by = json::Value::Array();
  for (const api::BindingSnapshot& entry : referrers) required_by.Append(entry.ToJson());
  attached.Set({"spec", "requiredBy"}, std::move(required_by));
  if (referrers.empty()) attached.Erase({"spec", "requiredBy"});
}

void RemoveReferrer(const kube::ObjectKey& referrer, const FindBinding& find,
                    kube::Object& attached) {
  Referrers left = api::BindingView(attached).RequiredBy();
  std::erase_if(left, [&](const api::BindingSnapshot& entry) {
    return entry.ns == referrer.ns && entry.name == referrer.name;
  });
  SetReferrers(left, attached);
  HandOver(DependedByLabel(referrer), find, attached);
}

// Removes the entries of bindings of other namespaces: nobody attaches them, and nothing of them
// may be learned here. Somebody may have written any number of them.
void RemoveForeign(const FindBinding& find, kube::Object& attached) {
  Referrers left = api::BindingView(attached).RequiredBy();
  absl::flat_hash_set<std::string> labels;
  std::erase_if(left, [&](const api::BindingSnapshot& entry) {
    if (entry.ns == attached.ns()) return false;
    const std::string label = DependedByLabel({entry.ns, entry.name});
    if (!attached.Label(label).empty()) labels.insert(label);
    return true;
  });
  if (left.size() == attached.spec()["requiredBy"].size()) return;
  SetReferrers(left, attached);
  absl::flat_hash_set<std::string> needed;
  for (const api::BindingSnapshot& entry : left) {
    needed.insert(DependedByLabel({entry.ns, entry.name}));
  }
  for (const std::string& label : labels) {
    if (needed.contains(label)) {
      HandOver(label, find, attached);
    } else {
      attached.EraseLabel(label);
    }
  }
}

// Has the binding follow its referrers; returns the text about their different demands, "" for
// none.
std::string FollowReferrers(const FindBinding& find, kube::Object& attached) {
  RemoveForeign(find, attached);
  return FollowDemands(find, attached);
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

// Returns the entry that follows `old` (null: there was none). A cluster that the referrer has left
// stays while the template is still there; none is added for that reason, so that what another
// program has let go is not brought back.
json::Value EntryFor(const kube::Object& referrer, const json::Value& old,
                     const StillIn& still_in) {
  api::BindingSnapshot entry = {std::string(referrer.ns()), std::string(referrer.name()),
                                api::BindingView(referrer).Clusters(),
                                api::BindingSnapshot::FromJson(old).others};
  json::Value placed = entry.ToJson();
  if (old.is_null() || old == placed) return placed;
  for (api::TargetCluster& before : api::TargetClustersFromJson(old["clusters"])) {
    const bool is_named =
        std::any_of(entry.clusters.begin(), entry.clusters.end(),
                    [&](const api::TargetCluster& c) { return c.name == before.name; });
    if (!is_named && still_in(referrer, before.name)) entry.clusters.push_back(std::move(before));
  }
  return entry.ToJson();
}

// Returns what becomes of the entry at `place`.
json::Value NextEntry(const kube::Object& attached, size_t place, const kube::Object& referrer,
                      const StillIn& still_in) {
  return EntryFor(referrer, attached.spec()["requiredBy"].At(place), still_in);
}

// Returns whether the binding has everything that the referrer demands, and nothing beyond that
// could be due to an earlier demand of it.
bool Satisfies(const kube::Object& attached, const kube::Object& referrer, const Lookups& lookups) {
  const std::optional<size_t> entry = EntryOf(attached, referrer);
  if (!entry.has_value() ||
      attached.spec()["requiredBy"].At(*entry) !=
          NextEntry(attached, *entry, referrer, lookups.still_in) ||
      !HasLabelOf(attached, referrer, lookups.find)) {
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
  binding.Set({"spec", "resource"},
              api::ObjectReference::Of(object).ToJson(binding.spec()["resource"]));
  return absl::OkStatus();
}

// The namespace and name of a referrer.
using NameView = std::pair<absl::string_view, absl::string_view>;
NameView NameOf(const json::Value& entry) {
  return {entry["namespace"].AsString(), entry["name"].AsString()};
}

// Returns whether the binding has all labels of the other one, with their values.
bool HasLabelsOf(const kube::Object& binding, const kube::Object& other) {
  if (binding.labels() == other.labels()) return true;
  const auto labels = other.labels().members();
  return std::all_of(labels.begin(), labels.end(), [&](const json::Member& label) {
    const json::Value* value = binding.labels().Find(label.name());
    return value != nullptr && *value == label.value;
  });
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

bool HasLabelOf(const kube::Object& attached, const kube::Object& referrer,
                const FindBinding& find) {
  const std::string label = DependedByLabel(referrer.key());
  const absl::string_view id = attached.Label(label);
  if (id == api::BindingView(referrer).PermanentId()) return true;
  return !id.empty() && Contains(IdsUnder(label, attached, find), id);
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
                                                   const Lookups& lookups) {
  const bool demands = after.spec()["placement"].is_null() && DemandsChanged(before, after);
  const json::Value& entries = after.spec()["requiredBy"];
  if (!demands && before.spec()["requiredBy"] == entries) return {};
  // An entry that is removed moves all others.
  absl::flat_hash_map<NameView, const json::Value*> old;
  for (const json::Value& entry : before.spec()["requiredBy"].items()) old[NameOf(entry)] = &entry;
  std::vector<kube::ObjectKey> keys;
  for (const json::Value& entry : entries.items()) {
    const auto found = old.find(NameOf(entry));
    const bool same = found != old.end() && *found->second == entry;
    if (same && !demands) continue;
    kube::ObjectKey key{entry["namespace"].ToString(), entry["name"].ToString()};
    if (key.ns != after.ns()) continue;  // This program attaches within a namespace.
    const kube::ObjectPtr referrer = lookups.find(key);
    if (referrer == nullptr || !api::BindingView(*referrer).PropagateDeps()) continue;
    const bool contradicts = (!same && entry != EntryFor(*referrer, entry, lookups.still_in)) ||
                             (demands && DemandsOf(after) != DemandsOf(*referrer));
    if (contradicts) keys.push_back(std::move(key));
  }
  return keys;
}

std::vector<kube::ObjectKey> ReferrersLost(const kube::Object& before, const kube::Object& after,
                                           const FindBinding& find) {
  const json::Value& entries = before.spec()["requiredBy"];
  const bool is_labelled = HasLabelsOf(after, before);
  if (is_labelled && entries == after.spec()["requiredBy"]) return {};
  absl::flat_hash_set<NameView> present;
  for (const json::Value& entry : after.spec()["requiredBy"].items()) present.insert(NameOf(entry));
  std::vector<kube::ObjectKey> lost;
  for (const json::Value& entry : entries.items()) {
    const bool is_present = present.contains(NameOf(entry));
    if (is_present && is_labelled) continue;
    kube::ObjectKey key{entry["namespace"].ToString(), entry["name"].ToString()};
    if (key.ns != before.ns()) continue;  // This program attaches within a namespace.
    if (is_present) {
      const std::string label = DependedByLabel(key);
      if (before.Label(label) == after.Label(label)) continue;
      const kube::ObjectPtr referrer = find(key);
      if (referrer != nullptr && HasLabelOf(after, *referrer, find)) continue;
    }
    lost.push_back(std::move(key));
  }
  return lost;
}

std::string ConflictAbout(kube::Object attached, const FindBinding& find) {
  return FollowReferrers(find, attached);
}

absl::StatusOr<Attached> WithReferrer(const kube::Object* existing, const kube::Object& object,
                                      const kube::Object& referrer, const Lookups& lookups) {
  Attached attached;
  kube::Object& binding = attached.binding;
  binding = existing == nullptr ? NewBinding(object, referrer.ns()) : *existing;
  RETURN_IF_ERROR(Renew(object, binding));
  if (Satisfies(binding, referrer, lookups)) return attached;
  if (!HasLabelOf(binding, referrer, lookups.find)) {
    binding.SetLabel(DependedByLabel(referrer.key()), api::BindingView(referrer).PermanentId());
  }
  json::Value entries = binding.spec()["requiredBy"];
  if (!entries.is_array()) entries = json::Value::Array();
  const std::optional<size_t> own = EntryOf(binding, referrer);
  if (own.has_value()) {
    entries.MutableAt(*own) = NextEntry(binding, *own, referrer, lookups.still_in);
  } else {
    entries.Append(EntryFor(referrer, {}, lookups.still_in));
  }
  binding.Set({"spec", "requiredBy"}, std::move(entries));
  attached.conflict = FollowReferrers(lookups.find, binding);
  return attached;
}

std::vector<std::string> ClustersLeft(const kube::Object& attached, const kube::Object& referrer) {
  const std::optional<size_t> own = EntryOf(attached, referrer);
  if (!own.has_value()) return {};
  const json::Value& entry = attached.spec()["requiredBy"].At(*own);
  if (entry["clusters"] == referrer.spec()["clusters"]) return {};
  absl::flat_hash_set<absl::string_view> placed;
  for (const json::Value& cluster : referrer.spec()["clusters"].items()) {
    placed.insert(cluster["name"].AsString());
  }
  std::vector<std::string> left;
  for (const json::Value& cluster : entry["clusters"].items()) {
    if (!placed.contains(cluster["name"].AsString())) left.push_back(cluster["name"].ToString());
  }
  return left;
}

kube::Object WithClustersOf(const kube::Object& attached, const kube::Object& referrer,
                            const StillIn& still_in) {
  const std::optional<size_t> own = EntryOf(attached, referrer);
  if (!own.has_value()) return attached;
  json::Value entry = NextEntry(attached, *own, referrer, still_in);
  json::Value entries = attached.spec()["requiredBy"];
  if (entries.At(*own) == entry) return attached;
  entries.MutableAt(*own) = std::move(entry);
  kube::Object after = attached;
  after.Set({"spec", "requiredBy"}, std::move(entries));
  return after;
}

kube::Object WithoutReferrer(const kube::Object& attached, const kube::ObjectKey& referrer,
                             const FindBinding& find) {
  kube::Object after = attached;
  RemoveReferrer(referrer, find, after);
  FollowReferrers(find, after);
  return after;
}

}  // namespace controllers
