// The Secrets of the control plane that others name, and no others: a search server has no business
// with the rest of them.
//
// There is one watch for each namespace that has a referenced Secret, since a fleet names hundreds
// of them in one. Of the other Secrets of that namespace only their names are kept.
#ifndef CMD_SEARCH_REFERENCED_SECRETS_H_
#define CMD_SEARCH_REFERENCED_SECRETS_H_

#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/synchronization/mutex.h"
#include "base/clock.h"
#include "kube/cache/informer.h"
#include "kube/client/client.h"
#include "kube/meta/names.h"
#include "kube/meta/object.h"

namespace cmd {

// Thread-safe.
class ReferencedSecrets {
 public:
  // Called on the informers' threads for each referenced Secret that is added, changed or removed;
  // must not block, nor call this object.
  using Changed = std::function<void(const kube::ObjectKey& key)>;

  // REQUIRES: `client` and `clock` outlive the object.
  ReferencedSecrets(kube::Client& client, std::shared_ptr<kube::InformerThreads> threads,
                    const base::Clock& clock, Changed changed);
  ~ReferencedSecrets();
  ReferencedSecrets(const ReferencedSecrets&) = delete;

  // All Secrets that are named. Calls are made one at a time; REQUIRES: not in a handler of an
  // informer.
  void SetReferences(const std::set<kube::ObjectKey>& keys);
  // Returns nullptr when it is not there, is not referenced, or has not been read yet.
  kube::ObjectPtr Find(const kube::ObjectKey& key) const;
  // Returns why the Secrets of the namespace cannot be read at the moment; OK when they can, or
  // when nobody has named one of them.
  absl::Status ErrorOf(const std::string& ns) const;
  // Returns whether all referenced Secrets have been read, if they exist and may be read.
  bool HasSynced() const;

 private:
  using Names = std::set<std::string, std::less<>>;
  // One namespace. `before` answers until `informer` has listed.
  struct Watched {
    std::shared_ptr<const Names> names;
    std::unique_ptr<kube::InformerSet> set;
    std::shared_ptr<kube::Informer> informer, before;
  };

  Watched Start(const std::string& ns, std::shared_ptr<const Names> names) const;

  kube::Client& client_;
  const std::shared_ptr<kube::InformerThreads> threads_;
  const base::Clock& clock_;
  const Changed changed_;
  mutable absl::Mutex mu_;
  std::map<std::string, Watched> namespaces_ ABSL_GUARDED_BY(mu_);
};

}  // namespace cmd

#endif  // CMD_SEARCH_REFERENCED_SECRETS_H_
