// Reads the webhook configurations that a sub-command is given (--webhook), and makes a layer of
// them.
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
  // Problems of the configurations that do not prevent the rest from working; each names file and
  // object.
  std::vector<std::string> problems;
  // The kinds that the hooks' rules name, for listing. "*" stands for the parts that a rule leaves
  // open: {"example.io", "*", "Widget"}.
  std::set<kube::Gvk> kinds;
};

// Reads configurations of both kinds; arguments are those of ObjectSource, and other objects in
// directories are ignored. CustomResourceDefinitions among them determine how kinds are served, for
// rules by resource. kInvalidArgument, with file and object, for any other object, for a
// configuration that is given twice, and for a hook behind a Service, which only a control plane
// can find.
absl::StatusOr<Webhooks> ReadWebhooks(const std::vector<std::string>& arguments, bool recursive,
                                      ObjectSource& source);

// Returns the daemon's layer, over real connections. Unlike the daemon's it calls a hook again
// however often it has failed, so that answers do not depend on earlier questions.
std::unique_ptr<interpreter::Backend> NewWebhookLayer(const Webhooks& webhooks,
                                                      interpreter::webhook::CallObserver on_call);

}  // namespace cmd::interpret

#endif  // CMD_INTERPRET_WEBHOOKS_H_
