// The webhook configurations that a sub-command is given (--webhook), and the layer that they make.
//
//   ASSIGN_OR_RETURN(const Webhooks webhooks, ReadWebhooks(arguments, recursive, source));
//   backends.push_back(NewWebhookLayer(webhooks, on_call));
#ifndef CMD_INTERPRET_WEBHOOKS_H_
#define CMD_INTERPRET_WEBHOOKS_H_

#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "cmd/interpret/object_source.h"
#include "interpreter/webhook/hook_monitor.h"
#include "interpreter/webhook/hook_set.h"
#include "interpreter/webhook/webhook_backend.h"
#include "kube/meta/names.h"

namespace cmd::interpret {

struct Webhooks {
  std::shared_ptr<const interpreter::webhook::HookSet> hooks;
  // What is wrong with the configurations although the rest of them works, each with file and
  // object before it.
  std::vector<std::string> problems;
  // The kinds that the hooks' rules name, for listing. Where a rule leaves something open, "*"
  // stands for it: {"example.io", "*", "Widget"}.
  std::set<kube::Gvk> kinds;
};

// Reads configurations of both kinds; an argument is what ObjectSource takes, and other objects in
// directories are passed over. CustomResourceDefinitions among them say how kinds are served, for
// rules by resource. kInvalidArgument, with file and object, for any other object, for a
// configuration that is given twice, and for a hook behind a Service, which only a control plane
// can find.
absl::StatusOr<Webhooks> ReadWebhooks(const std::vector<std::string>& arguments, bool recursive,
                                      ObjectSource& source);

// The daemon's layer over real connections. Unlike the daemon's it calls a hook again however often
// it failed, so that no answer depends on the questions before it.
std::unique_ptr<interpreter::Backend> NewWebhookLayer(const Webhooks& webhooks,
                                                      interpreter::webhook::CallObserver on_call);

}  // namespace cmd::interpret

#endif  // CMD_INTERPRET_WEBHOOKS_H_
