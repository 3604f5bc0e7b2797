// The combined result of rounds of discovery: a round that could not read some groups does not
// remove the kinds of those groups.
#ifndef KUBE_RUNTIME_INTERNAL_DISCOVERED_KINDS_H_
#define KUBE_RUNTIME_INTERNAL_DISCOVERED_KINDS_H_

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "kube/discovery/rest_mapper.h"
#include "kube/meta/names.h"
#include "kube/runtime/served_kinds.h"

namespace kube::internal {

// Kinds that can be listed, watched and deleted. Not thread-safe.
class DiscoveredKinds {
 public:
  // Adds the result of the next round.
  void Note(const Discovery& discovery);
  // Returns the kind's resource if this is its preferred version; nullptr if it is not, or if it
  // cannot be watched.
  const Resource* Find(const Gvk& gvk) const;
  // Returns the kind's resource in any version that is served.
  const Resource* FindServed(const Gvk& gvk) const;
  // The kinds in their preferred versions.
  const ServedKinds& shown() const { return shown_; }

 private:
  void Store(const Discovery& discovery);
  void Show(const std::vector<std::string>& failed_groups);
  void NoteUnread(const std::vector<std::string>& failed_groups);

  struct Served {
    Resource resource;
    bool preferred = false;
  };
  std::map<Gvk, Served> served_;
  ServedKinds shown_;
  // The groups that no round could read so far; nullopt before the first round.
  std::optional<std::vector<std::string>> never_read_;
};

}  // namespace kube::internal

#endif  // KUBE_RUNTIME_INTERNAL_DISCOVERED_KINDS_H_
