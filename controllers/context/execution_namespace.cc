#include "controllers/context/execution_namespace.h"

#include <memory>
#include <utility>

#include "absl/status/statusor.h"
#include "api/names.h"
#include "api/resources.h"
#include "kube/runtime/handler_registration.h"

namespace controllers {

void OnExecutionNamespace(const Context& context, kube::Controller& controller,
                          std::function<void(const std::string& cluster)> made) {
  kube::EventHandler handler;
  handler.on_add = [&manager = context.manager, made = std::move(made)](const kube::ObjectPtr& ns,
                                                                        bool initial) {
    const absl::StatusOr<std::string> cluster = api::ClusterOfExecutionNamespace(ns->name());
    if (!initial && cluster.ok() && manager.IsLeader()) made(*cluster);
  };
  controller.Keep(std::make_shared<kube::HandlerRegistration>(context.InformerOf(api::Namespaces()),
                                                              std::move(handler)));
}

}  // namespace controllers
