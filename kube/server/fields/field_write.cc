// An update compares the present state with the wanted one. What it has changed goes to the writer
// from whoever owned it, and what it has removed is nobody's.
//
// An apply merges the configuration into the present state, and removes what the manager had
// applied before, does not apply now, and nobody else owns. The differences of the result from the
// present state are taken from those who owned them, which is a conflict unless it is forced. The
// manager owns what the configuration sets, be it changed or not.
//
// Managers may have written in other versions of the kind; their sets are compared with the
// difference in that version.

#include "kube/server/fields/field_write.h"

#include <map>
#include <utility>

#include "kube/meta/object.h"

namespace kube::server {
namespace {

constexpr char kUnknownManager[] = "unknown";

// Fields that identify an object or that only the server sets, which belong to nobody.
const FieldSet& Unowned() {
  static const auto* const set = [] {
    auto* all = new FieldSet;
    for (const char* name : {"apiVersion", "kind", "metadata"}) all->Insert({FieldStep(name)});
    for (const char* name : {"name", "namespace", "creationTimestamp", "selfLink", "uid",
                             "clusterName", "generation", "managedFields", "resourceVersion"}) {
      all->Insert({FieldStep("metadata"), FieldStep(name)});
    }
    return all;
  }();
  return *set;
}

// The fields that a write leaves as they are, whatever it says.
std::vector<PathOfField> ResetFields(const FieldKind& kind, absl::string_view subresource) {
  if (subresource == "status") {
    std::vector<PathOfField> out{{FieldStep("spec")}};
    const std::string& name = kind.gvk.kind;
    if (kind.custom) return out;
    if (name == "Deployment") out.push_back({FieldStep("metadata"), FieldStep("labels")});
    if (name == "Pod") {
      out.push_back({FieldStep("metadata"), FieldStep("deletionTimestamp")});
      out.push_back({FieldStep("metadata"), FieldStep("ownerReferences")});
    }
    return out;
  }
  if (kind.status_subresource) return {{FieldStep("status")}};
  return {};
}

void Filter(const std::vector<PathOfField>& reset, FieldSet& fields) {
  for (const PathOfField& path : reset) fields.EraseTree(path);
}

}  // namespace

FieldWrite::FieldWrite(FieldVersions& versions, const FieldWriter& writer)
    : versions_(versions),
      own_(versions.own()),
      writer_(writer),
      reset_(ResetFields(versions.own(), writer.subresource)) {
  self_.manager = writer.manager.empty() ? kUnknownManager : writer.manager;
  self_.subresource = writer.subresource;
  self_.api_version = own_.gvk.ApiVersion();
}

void FieldWrite::Update(const json::Value& before, const json::Value& after,
                        OwnerEntries& entries) {
  self_.operation = kUpdateOperation;
  const FieldChanges changes = TakeFromOthers(before, after, entries, nullptr);
  self_.fields = changes.modified.Union(changes.added);
  Filter(reset_, self_.fields);
  self_.fields = self_.fields.Difference(Unowned());
  if (!self_.fields.empty()) {
    // The times of changes through this subresource are lost in a kube-apiserver.
    self_.time = writer_.subresource == "scale" ? "" : kube::FormatTime(writer_.now);
    if (OwnerEntry* previous = FindEntry(entries, self_)) {
      previous->fields = self_.fields.Union(previous->fields);
      previous->time = self_.time;
    } else {
      entries.push_back(self_);
    }
  }
  CapUpdates(entries);
}

json::Value FieldWrite::Apply(const json::Value& live, const json::Value& config,
                              OwnerEntries& entries, std::vector<FieldConflict>& conflicts) {
  self_.operation = kApplyOperation;
  json::Value merged = Merged(live, config, own_.type);
  OwnerEntry last;
  if (OwnerEntry* previous = FindEntry(entries, self_)) {
    last = *previous;
    self_.time = last.time;
    entries.erase(entries.begin() + (previous - entries.data()));
  }
  self_.fields = FieldsOf(config, own_.type);
  Filter(reset_, self_.fields);
  // What this manager applied last time and leaves out now is removed, unless others own it.
  if (!last.fields.empty()) merged = Pruned(merged, entries, last);
  TakeFromOthers(live, merged, entries, &conflicts);
  if (merged != live) self_.time = kube::FormatTime(writer_.now);
  self_.fields = self_.fields.Difference(Unowned());
  if (!self_.fields.empty()) entries.push_back(self_);
  return merged;
}

FieldSet FieldWrite::AppliedByClient(const json::Value& live) const {
  const json::Value& text = live["metadata"]["annotations"][kLastApplied];
  const auto last = json::Parse(text.AsString());
  if (!last.ok() || (*last)["apiVersion"].AsString() != self_.api_version) return {};
  if (!CheckApplicable(*last, own_.type).ok()) return {};
  const FieldChanges changes = ChangesBetween(*last, live, own_.type);
  return FieldsOf(*last, own_.type)
      .Difference(changes.modified)
      .Difference(changes.added)
      .Difference(changes.removed);
}

FieldChanges FieldWrite::TakeFromOthers(const json::Value& before, const json::Value& after,
                                        OwnerEntries& entries,
                                        std::vector<FieldConflict>* conflicts) {
  FieldChanges own = Changes(before, after, own_);
  std::map<std::string, FieldChanges> others;
  for (OwnerEntry& entry : entries) {
    const FieldChanges* changes = &own;
    const FieldKind* version = versions_.Find(entry.api_version);
    // Of a version that is not served any more: nobody can tell what the fields mean, as in
    // Kubernetes.
    if (version == nullptr) {
      entry.fields = FieldSet();
      continue;
    }
    if (version != &own_) {
      const auto [slot, is_new] = others.try_emplace(entry.api_version);
      if (is_new) {
        slot->second = Changes(versions_.Convert(own_, *version, before),
                               versions_.Convert(own_, *version, after), *version);
      }
      changes = &slot->second;
    }
    // What is set to the value that it has already is shared; only a change takes it away.
    const FieldSet taken = entry.fields.Intersection(changes->modified.Union(changes->added));
    if (conflicts != nullptr) {
      taken.ForEach([&](const PathOfField& path) { conflicts->push_back({entry, path}); });
    }
    entry.fields = entry.fields.Difference(taken).Difference(changes->removed);
  }
  DropEmptyEntries(entries);
  return own;
}

FieldChanges FieldWrite::Changes(const json::Value& before, const json::Value& after,
                                 const FieldKind& version) const {
  FieldChanges changes = ChangesBetween(before, after, version.type);
  for (FieldSet* set : {&changes.removed, &changes.modified, &changes.added}) {
    Filter(reset_, *set);
  }
  return changes;
}

json::Value FieldWrite::Pruned(const json::Value& merged, const OwnerEntries& others,
                               const OwnerEntry& last) {
  const FieldKind* version = versions_.Find(last.api_version);
  if (version == nullptr) return merged;
  json::Value state = versions_.Convert(own_, *version, merged);
  const FieldType& type = version->type;
  const FieldSet last_set = WithNamedFields(last.fields, type);
  json::Value pruned = WithoutFields(state, last_set, type);
  pruned = WithOwned(state, pruned, *version, others);
  // What nobody owned, or only updates, stays.
  const FieldSet all = WithNamedFields(FieldsOf(state, type), type);
  const FieldSet kept = WithNamedFields(FieldsOf(pruned, type), type);
  pruned = WithoutFields(state, all.Difference(kept).Intersection(last_set), type);
  return versions_.Convert(*version, own_, std::move(pruned));
}

json::Value FieldWrite::WithOwned(json::Value merged, json::Value pruned, const FieldKind& version,
                                  const OwnerEntries& others) {
  std::map<std::string, FieldSet> owned;
  owned[self_.api_version] = self_.fields;
  for (const OwnerEntry& entry : others) {
    FieldSet& set = owned[entry.api_version];
    set = set.Union(entry.fields);
  }
  const FieldKind* at = &version;
  const auto add = [&](const FieldKind& to, const FieldSet& fields) {
    merged = versions_.Convert(*at, to, std::move(merged));
    pruned = versions_.Convert(*at, to, std::move(pruned));
    at = &to;
    const FieldType& type = to.type;
    const FieldSet all = WithNamedFields(FieldsOf(merged, type), type);
    const FieldSet kept =
        WithNamedFields(FieldsOf(pruned, type), type).Union(WithNamedFields(fields, type));
    pruned = WithoutFields(merged, all.Difference(kept), type);
  };
  const std::string first = version.gvk.ApiVersion();
  if (const auto found = owned.find(first); found != owned.end()) {
    add(version, found->second);
    owned.erase(found);
  }
  for (const auto& [api_version, fields] : owned) {
    const FieldKind* to = versions_.Find(api_version);
    if (to != nullptr) add(*to, fields);
  }
  return versions_.Convert(*at, version, std::move(pruned));
}

}  // namespace kube::server
