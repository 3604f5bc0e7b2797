// Tells when an informer has synced, without a thread that waits for it.
#ifndef KUBE_CACHE_SYNC_NOTICE_H_
#define KUBE_CACHE_SYNC_NOTICE_H_

#include <functional>

#include "kube/cache/informer.h"

namespace kube {

// Calls `call` once when the informer has synced or has ended, at once if it has already.
// Informer::WaitForSync says which. It is called on any thread, and must not block. REQUIRES: the
// informer is one of an InformerSet.
void CallWhenSettled(Informer& informer, std::function<void()> call);

}  // namespace kube

#endif  // KUBE_CACHE_SYNC_NOTICE_H_
