// The entries of metadata.managedFields.
#ifndef KUBE_SERVER_FIELDS_OWNER_ENTRIES_H_
#define KUBE_SERVER_FIELDS_OWNER_ENTRIES_H_

#include <string>
#include <vector>

#include "base/json.h"
#include "kube/server/fields/field_set.h"

namespace kube::server {

inline constexpr char kApplyOperation[] = "Apply";
inline constexpr char kUpdateOperation[] = "Update";

// What a manager owns because of one operation on one subresource.
struct OwnerEntry {
  std::string manager, operation, subresource, api_version, time;
  FieldSet fields;

  bool applied() const { return operation == kApplyOperation; }
  // Returns whether both are the same manager's. Appliers have one entry for all versions.
  bool IsSameOwner(const OwnerEntry& other) const;
};

using OwnerEntries = std::vector<OwnerEntry>;

// Returns no entries when one of them is not valid, as apiserver does. `trusted` says that they
// were made by WriteEntries.
OwnerEntries ReadEntries(const json::Value& managed_fields, bool trusted);
// Returns the list as it is stored: sorted, and sharing what is equal with other objects'. Null
// when there is no entry.
json::Value WriteEntries(OwnerEntries entries);

// Returns the entry of the same owner; nullptr when there is none.
OwnerEntry* FindEntry(OwnerEntries& entries, const OwnerEntry& like);
void DropEmptyEntries(OwnerEntries& entries);
// Unites the oldest entries of updates when there are more than ten.
void CapUpdates(OwnerEntries& entries);
// Names the owner as conflicts do.
std::string DescribeOwner(const OwnerEntry& entry);

}  // namespace kube::server

#endif  // KUBE_SERVER_FIELDS_OWNER_ENTRIES_H_
