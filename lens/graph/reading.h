// Reads objects of a live control plane for a graph, and keeps account of what could not be read.
#ifndef LENS_GRAPH_READING_H_
#define LENS_GRAPH_READING_H_

#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "base/stop_token.h"
#include "kube/client/client.h"
#include "kube/discovery/rest_mapper.h"
#include "kube/meta/names.h"
#include "kube/meta/object.h"

namespace lens::graph {

// Returns everything that is read once, from memory the second time. Values of Secrets are not
// kept. Not thread-safe.
class Reading {
 public:
  // Where objects of all namespaces may not be listed, those of `ns` are, unless it is "". The
  // client, the discovery and the token outlive this object.
  Reading(kube::Client& client, const kube::Discovery& discovery, std::string ns,
          const base::StopToken& stop)
      : client_(client), discovery_(discovery), ns_(std::move(ns)), stop_(stop) {}

  // Returns how the kind is served; an empty Resource when it is not.
  kube::Resource ResourceOf(const kube::Gvk& gvk) const;

  // Returns the objects of all namespaces, with the fields that ListOptions::fields would name. A
  // failure is kept, and the result is what could be read.
  std::vector<kube::ObjectPtr> List(const kube::Resource& resource,
                                    const std::vector<std::string>& fields = {});
  // Returns the objects of a namespace that match; the other parts of Answer are as in Get.
  struct Answer {
    std::vector<kube::ObjectPtr> objects;
    bool known = true;  // False if a failure keeps the answer from being whole.
  };
  Answer ListIn(const kube::Resource& resource, const std::string& ns);
  // Returns the objects of a namespace, or of all of them (""), whose label has the value, with the
  // fields that ListOptions::fields would name.
  Answer ListLabelled(const kube::Resource& resource, const std::string& ns,
                      const std::pair<std::string, std::string>& label,
                      const std::vector<std::string>& fields = {});
  // Returns one object, or none.
  Answer Get(const kube::Resource& resource, const kube::ObjectKey& key);
  // As Get; an object of a kind that is not served does not exist.
  Answer Get(const kube::Gvk& gvk, const kube::ObjectKey& key);
  // Reads all objects of the resource at once, as List does, so that Get need not ask one by one. A
  // failure does no harm.
  void Prefetch(const kube::Resource& resource, const std::vector<std::string>& fields);

  // Returns whether List has read all objects of the resource in the namespace; "" stands for all
  // namespaces. Then what it did not return does not exist.
  bool HasRead(const kube::Resource& resource, absl::string_view ns) const;
  // Returns whether it is known if the object exists: List has read its namespace, or Get it.
  bool IsKnown(const kube::Resource& resource, const kube::ObjectKey& key) const;
  // Returns whether discovery failed for the kind's group, so that it may be served after all.
  bool MayBeServed(const kube::Gvk& gvk);

  // Keeps a sentence about what could not be read or determined.
  void Note(const std::string& what, const std::string& why);
  // Returns a sentence for each failure; similar ones are counted.
  std::vector<std::string> Unread() const;

 private:
  using Target = std::pair<kube::Gvr, kube::ObjectKey>;

  absl::Status TryList(const kube::Resource& resource, const std::string& ns,
                       const kube::ListOptions& options, std::vector<kube::ObjectPtr>& out);

  kube::Client& client_;
  const kube::Discovery& discovery_;
  const std::string ns_;
  const base::StopToken& stop_;
  std::map<kube::Gvr, std::string> read_;  // The namespace that List has read; "" for all.
  std::set<kube::Gvr> prefetched_;
  std::map<Target, Answer> answers_;
  struct Failure {
    std::string why;
    int more = 0;
  };
  std::map<std::string, Failure> failures_;  // By what could not be read.
};

}  // namespace lens::graph

#endif  // LENS_GRAPH_READING_H_
