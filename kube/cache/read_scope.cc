#include "kube/cache/read_scope.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"

namespace kube {
namespace {

// The scope of the reconcile that runs on this thread. Reads happen deep below the loop, in shared
// code, so the scope cannot be passed to all of them.
thread_local ReadScope* current = nullptr;

}  // namespace

ReadScope::ReadScope(const ClusterClient& client, const std::vector<const Informer*>& declared)
    : client_(client), declared_(declared), outer_(current) {
  current = this;
}

ReadScope::~ReadScope() { current = outer_; }

ReadScope::Pause::Pause() : held_(std::exchange(current, nullptr)) {}

ReadScope::Pause::~Pause() { current = held_; }

ReadScope* ReadScope::Current() { return current; }

ReadScope::Join::Join(ReadScope* scope) : held_(std::exchange(current, scope)) {}

ReadScope::Join::~Join() { current = held_; }

absl::Status ReadScope::status() const {
  absl::MutexLock lock(&mu_);
  if (undeclared_.empty()) return absl::OkStatus();
  return absl::InternalError(absl::StrCat("the loop has read ", undeclared_,
                                          " from the cache without having declared it "
                                          "(ControllerBuilder::Reads)"));
}

void ReadScope::Note(const ClusterClient& client, const Informer* informer,
                     const Resource& resource) {
  if (current == nullptr || &current->client_ != &client) return;
  const std::vector<const Informer*>& declared = current->declared_;
  if (informer != nullptr &&
      std::find(declared.begin(), declared.end(), informer) != declared.end()) {
    return;
  }
  absl::MutexLock lock(&current->mu_);
  if (current->undeclared_.empty()) current->undeclared_ = resource.gvr().ToString();
}

}  // namespace kube
