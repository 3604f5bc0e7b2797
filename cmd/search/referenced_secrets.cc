// A namespace in which a further Secret is named gets another informer, because the one before has
// not kept that Secret's data. Until the new one has listed, what the old one had last counts.

#include "cmd/search/referenced_secrets.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "api/resources.h"

namespace cmd {

ReferencedSecrets::ReferencedSecrets(kube::Client& client,
                                     std::shared_ptr<kube::InformerThreads> threads,
                                     const base::Clock& clock, Changed changed)
    : client_(client), threads_(std::move(threads)), clock_(clock), changed_(std::move(changed)) {}

ReferencedSecrets::~ReferencedSecrets() { SetReferences({}); }

ReferencedSecrets::Watched ReferencedSecrets::Start(const std::string& ns,
                                                    std::shared_ptr<const Names> names) const {
  Watched watched;
  watched.names = names;
  watched.set = std::make_unique<kube::InformerSet>(client_, clock_, threads_);
  kube::InformerOptions options;
  options.namespaces = {ns};
  // Only the Secrets that are named keep their data in memory.
  options.transform = [names](kube::Object& secret) {
    if (names->contains(secret.name())) return;
    secret.Erase({"data"});
    secret.Erase({"stringData"});
    secret.Erase({"metadata", "annotations"});
  };
  watched.set->SetDefaultOptions(api::Secrets(), std::move(options));
  watched.informer = watched.set->Get(api::Secrets());
  const auto report = [names, changed = changed_](const kube::ObjectPtr& secret) {
    if (names->contains(secret->name())) changed(secret->key());
  };
  watched.informer->AddHandler(
      {.on_add = [report](const kube::ObjectPtr& secret, bool) { report(secret); },
       .on_update = [report](const kube::ObjectPtr&,
                             const kube::ObjectPtr& after) { report(after); },
       .on_delete = report});
  return watched;
}

void ReferencedSecrets::SetReferences(const std::set<kube::ObjectKey>& keys) {
  std::map<std::string, Names> wanted;
  for (const kube::ObjectKey& key : keys) wanted[key.ns].insert(key.name);
  std::vector<std::unique_ptr<kube::InformerSet>> ended;  // Destroyed without the lock.
  {
    absl::MutexLock lock(&mu_);
    for (auto at = namespaces_.begin(); at != namespaces_.end();) {
      const auto names = wanted.find(at->first);
      if (names == wanted.end()) {
        ended.push_back(std::move(at->second.set));
        at = namespaces_.erase(at);
        continue;
      }
      // Names that are not referenced any more wait for the next change.
      const Names& known = *at->second.names;
      if (std::includes(known.begin(), known.end(), names->second.begin(), names->second.end())) {
        wanted.erase(names);
      }
      ++at;
    }
  }
  for (auto& [ns, names] : wanted) {
    Watched started = Start(ns, std::make_shared<const Names>(std::move(names)));
    absl::MutexLock lock(&mu_);
    Watched& slot = namespaces_[ns];
    const bool had_listed = slot.informer != nullptr && slot.informer->HasSynced();
    started.before = had_listed ? slot.informer : slot.before;
    ended.push_back(std::exchange(slot, std::move(started)).set);
  }
}

kube::ObjectPtr ReferencedSecrets::Find(const kube::ObjectKey& key) const {
  absl::MutexLock lock(&mu_);
  const auto at = namespaces_.find(key.ns);
  if (at == namespaces_.end() || !at->second.names->contains(key.name)) return nullptr;
  const Watched& watched = at->second;
  if (watched.informer->HasSynced()) return watched.informer->store().Find(key);
  const kube::ObjectPtr old =
      watched.before == nullptr ? nullptr : watched.before->store().Find(key);
  // The informer before has left out the data of what was not referenced then.
  return old != nullptr && !old->Get({"data"}).is_null() ? old : nullptr;
}

absl::Status ReferencedSecrets::ErrorOf(const std::string& ns) const {
  absl::MutexLock lock(&mu_);
  const auto at = namespaces_.find(ns);
  return at == namespaces_.end() ? absl::OkStatus() : at->second.informer->last_error();
}

bool ReferencedSecrets::HasSynced() const {
  absl::MutexLock lock(&mu_);
  return std::all_of(namespaces_.begin(), namespaces_.end(), [](const auto& entry) {
    const kube::Informer& informer = *entry.second.informer;
    // A right that is missing does not appear by waiting.
    return informer.HasSynced() || absl::IsPermissionDenied(informer.last_error());
  });
}

}  // namespace cmd
