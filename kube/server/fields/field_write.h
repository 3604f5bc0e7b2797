// What one write does to the entries of managedFields.
#ifndef KUBE_SERVER_FIELDS_FIELD_WRITE_H_
#define KUBE_SERVER_FIELDS_FIELD_WRITE_H_

#include <string>
#include <vector>

#include "base/json.h"
#include "kube/server/fields/field_owners.h"
#include "kube/server/fields/field_versions.h"
#include "kube/server/fields/owner_entries.h"
#include "kube/server/fields/typed_walks.h"

namespace kube::server {

// The annotation in which client-side apply notes its configuration.
inline constexpr char kLastApplied[] = "kubectl.kubernetes.io/last-applied-configuration";

// A field that somebody else owns and that an apply sets to another value.
struct FieldConflict {
  OwnerEntry owner;
  PathOfField path;
};

// For one write to one object. Values are objects without managedFields.
class FieldWrite {
 public:
  // REQUIRES: the arguments outlive this object.
  FieldWrite(FieldVersions& versions, const FieldWriter& writer);

  // What the writer has changed becomes its own.
  void Update(const json::Value& before, const json::Value& after, OwnerEntries& entries);
  // Returns the new state, and fills `conflicts`; what is in these has been taken from its owners.
  // REQUIRES: CheckApplicable(config).
  json::Value Apply(const json::Value& live, const json::Value& config, OwnerEntries& entries,
                    std::vector<FieldConflict>& conflicts);
  // Returns the fields of the last client-side apply that still have the values of then.
  FieldSet AppliedByClient(const json::Value& live) const;

 private:
  // Removes from the entries of others what differs, and returns the difference. Fills `conflicts`
  // with what others owned of it, unless that is null.
  FieldChanges TakeFromOthers(const json::Value& before, const json::Value& after,
                              OwnerEntries& entries, std::vector<FieldConflict>* conflicts);
  FieldChanges Changes(const json::Value& before, const json::Value& after,
                       const FieldKind& version) const;
  // Removes what the manager applied last time and nobody owns any more. `others` are the entries
  // of the others; self_ is what is applied now.
  json::Value Pruned(const json::Value& merged, const OwnerEntries& others, const OwnerEntry& last);
  // Adds back what was pruned and what somebody owns, version by version.
  json::Value WithOwned(json::Value merged, json::Value pruned, const FieldKind& version,
                        const OwnerEntries& others);

  FieldVersions& versions_;
  const FieldKind& own_;
  const FieldWriter& writer_;
  // What this write leaves as it is, whatever it says.
  std::vector<PathOfField> reset_;
  OwnerEntry self_;
};

}  // namespace kube::server

#endif  // KUBE_SERVER_FIELDS_FIELD_WRITE_H_
