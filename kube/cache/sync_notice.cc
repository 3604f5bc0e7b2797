#include "kube/cache/sync_notice.h"

#include <utility>

#include "kube/cache/internal/reflector.h"

namespace kube {

void CallWhenSettled(Informer& informer, std::function<void()> call) {
  dynamic_cast<internal::Reflector&>(informer).CallWhenSettled(std::move(call));
}

}  // namespace kube
