// The combined result of rounds of discovery: a round that could not read some groups does not
// remove the kinds of those groups.
#ifndef KUBE_RUNTIME_INTERNAL_DISCOVERED_KINDS_H_
#define KUBE_RUNTIME_INTERNAL_DISCOVERED_KINDS_H_

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "kube/client/rest_mapper.h"
#include "kube/meta/names.h"
#include "kube/runtime/served_kinds.h"

namespace kube::internal {

// Kinds in their preferred version that can be listed, watched and deleted. Not thread-safe.
class DiscoveredKinds {
 public:
  // Adds the result of the next round.
  void Note(const Discovery& discovery);
  // Returns the kind's resource; nullptr if it cannot be watched.
  const Resource* Find(const Gvk& gvk) const;
  const ServedKinds& shown() const { return shown_; }

 private:
  void Store(const Discovery& discovery);
  void Show(const std::vector<std::string>& failed_groups);
  void NoteUnread(const std::vector<std::string>& failed_groups);

  std::map<Gvk, Resource> served_;
  ServedKinds shown_;
  // The groups that no round could read so far; nullopt before the first round.
  std::optional<std::vector<std::string>> never_read_;
};

}  // namespace kube::internal

#endif  // KUBE_RUNTIME_INTERNAL_DISCOVERED_KINDS_H_
