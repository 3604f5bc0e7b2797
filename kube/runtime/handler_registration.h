// Removes an informer's handler when its owner is destroyed.
#ifndef KUBE_RUNTIME_HANDLER_REGISTRATION_H_
#define KUBE_RUNTIME_HANDLER_REGISTRATION_H_

#include <cstdint>
#include <memory>
#include <utility>

#include "kube/cache/informer.h"

namespace kube {

// Once the destructor has returned, no call of the handler is running and none follows; it must not
// run inside the handler.
class HandlerRegistration {
 public:
  HandlerRegistration(std::shared_ptr<Informer> informer, EventHandler handler)
      : informer_(std::move(informer)), id_(informer_->AddHandler(std::move(handler))) {}
  ~HandlerRegistration() {
    if (informer_ != nullptr) informer_->RemoveHandler(id_);
  }
  HandlerRegistration(HandlerRegistration&& other) noexcept = default;  // `other` becomes empty.
  HandlerRegistration& operator=(HandlerRegistration&&) = delete;

 private:
  std::shared_ptr<Informer> informer_;
  int64_t id_;
};

}  // namespace kube

#endif  // KUBE_RUNTIME_HANDLER_REGISTRATION_H_
