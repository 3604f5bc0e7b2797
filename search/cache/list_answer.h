// Answers out of the cache, and their bytes.
#ifndef SEARCH_CACHE_LIST_ANSWER_H_
#define SEARCH_CACHE_LIST_ANSWER_H_

#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "kube/cache/encoded_object.h"
#include "kube/meta/names.h"

namespace search {

// A cluster that is missing from an answer, or whose part may be old.
struct MissingCluster {
  std::string cluster;
  std::string reason;  // For people.
  bool stale = false;  // Its objects are in the answer, but may not be the newest.
  // It is missing only until its first list, which is under way, has come.
  bool being_read = false;
  // That list has begun so recently that it is worth waiting for.
  bool just_begun = false;
};

// Returns what callers learn of an error of a cluster (MissingCluster::reason). Addresses, host
// names and certificates of members are for the log and the conditions of the registries.
std::string ReasonForCallers(const absl::Status& error);

// Returns why an object cannot be determined by its name alone, and what its caller can do: the
// reason of a conflict (409). `clusters` are those that have such an object, in any order.
std::string AmbiguousObjects(std::vector<std::string> clusters);

// Returns the composite version of the state that a page shows, from the token that begins it; ""
// when the text is not such a token.
std::string VersionOfPage(absl::string_view continue_token);

// Returns the member of metadata.annotations that names the cluster of an object, as JSON.
std::string OriginAnnotation(absl::string_view cluster);

// One object of one cluster.
struct CachedObject {
  std::string cluster;
  kube::ObjectPtr object;  // An EncodedObject.
  std::string version;     // A composite of this cluster alone.
  std::vector<MissingCluster> missing;

  const kube::EncodedObject& encoded() const { return kube::Encoded(*object); }
  // Appends the object with its origin and the composite version.
  void AppendTo(std::string& out) const;
};

// A consistent state of each cluster. Holds pointers to objects, which other answers share.
struct ListAnswer {
  // The objects of one cluster, in the order of their keys.
  struct Part {
    std::string cluster;
    std::shared_ptr<const std::vector<kube::ObjectPtr>> objects;
  };
  std::vector<Part> parts;  // In the order of their clusters' names.
  std::string version;      // A composite of all clusters that are not missing.
  std::string continue_token;
  // As in Kubernetes: not known when there are selectors.
  std::optional<size_t> remaining;
  std::vector<MissingCluster> missing;
  std::shared_ptr<const void> held;  // Is let go of with the answer. Optional.

  size_t size() const;
};

// The JSON text of a list, made a piece at a time, so that a slow reader costs no memory. Items
// keep the versions of their clusters, as upstream's do.
class ListText {
 public:
  // `item` is the kind of the items. The answer is kept until the end.
  ListText(ListAnswer answer, kube::Gvk item);
  // Appends at least `bytes` bytes, or the rest. Returns false when there was nothing left.
  bool Append(std::string& out, size_t bytes);

 private:
  void AppendHead(std::string& out) const;
  // Returns false after the last item.
  bool AppendItem(std::string& out);

  enum class State { kHead, kItems, kEnd };
  const ListAnswer answer_;
  const kube::Gvk item_;
  State state_ = State::kHead;
  size_t part_ = 0, index_ = 0;
  bool first_ = true;
  std::string annotation_;  // Of the present part.
};

}  // namespace search

#endif  // SEARCH_CACHE_LIST_ANSWER_H_
