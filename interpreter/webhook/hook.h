// Describes a webhook: what it is asked about, where it is, and which messages it understands.
#ifndef INTERPRETER_WEBHOOK_HOOK_H_
#define INTERPRETER_WEBHOOK_HOOK_H_

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "interpreter/interpreter.h"
#include "kube/meta/names.h"

namespace interpreter::webhook {

// The messages that a hook understands; the kind of its configuration determines them.
enum class Dialect {
  kInterpreterContext,  // ResourceInterpreterWebhookConfiguration.
  kExploreReview,       // ResourceExploringWebhookConfiguration.
};

// Returns the dialect's name of the operation ("InterpretHealth", "ExploreHealthy"); "" when it has
// no such operation: hooks of that dialect are never asked for it.
absl::string_view OperationNameIn(Dialect dialect, Operation op);

// Returns how the API serves a kind; nullopt when it does not. It is called while rules with
// resources or scopes are matched, so it must answer from memory.
using ResourceLookup = std::function<std::optional<kube::Resource>(const kube::Gvk& gvk)>;

// The kinds that a rule matches. Every list matches by exact text or by "*"; the empty group is the
// core group. No list may be empty, except the one of the other dialect.
struct KindPattern {
  enum class Scope { kAny, kCluster, kNamespaced };

  std::vector<std::string> groups, versions;
  std::vector<std::string> kinds;  // Only in kInterpreterContext.
  // Only in kExploreReview: plural names, "*", or either with "/*"; other sub-resources match
  // nothing.
  std::vector<std::string> resources;
  Scope scope = Scope::kAny;  // Only in kExploreReview.

  // `lookup` is asked only when group and version match; a kind that it does not know matches only
  // a pattern without resources and scope.
  bool Matches(const kube::Gvk& gvk, const ResourceLookup& lookup) const;
  // Returns whether the result of Matches depends on what the lookup returns.
  bool NeedsResourceOf(const kube::Gvk& gvk) const;
  friend bool operator==(const KindPattern&, const KindPattern&) = default;
};

struct Rule {
  std::vector<Operation> operations;  // "*" stands for all that the dialect has; sorted, unique.
  KindPattern kinds;
  friend bool operator==(const Rule&, const Rule&) = default;
};

struct ServiceReference {
  std::string ns, name;
  int port = 443;
  friend bool operator==(const ServiceReference&, const ServiceReference&) = default;
};

// The address of a hook, and the CA that its certificate must come from.
struct ClientConfig {
  std::string server;  // "https://host[:port]"; "" when there is a service.
  std::optional<ServiceReference> service;
  std::string path = "/";  // Escaped, without query.
  std::string ca_pem;      // Empty: the roots of the system.
  friend bool operator==(const ClientConfig&, const ClientConfig&) = default;
};

// One entry of a configuration's `webhooks`.
struct Hook {
  std::string uid;            // "<configuration>/<webhook>"
  std::string configuration;  // The object's name; its kind follows from the dialect.
  Dialect dialect = Dialect::kInterpreterContext;
  std::vector<Rule> rules;
  ClientConfig client;
  absl::Duration timeout = absl::Seconds(10);  // The limit for one call, retries included.
  // A failed call counts as "no rule": the next layer answers (failurePolicy: Ignore).
  bool ignores_failures = false;
  // Why the hook cannot be called, in the words that callers see (kInvalidArgument, because only a
  // change of the configuration helps); OK for a usable hook. An unusable hook keeps its rules: its
  // questions must fail, not be answered by another layer.
  absl::Status unusable;

  friend bool operator==(const Hook&, const Hook&) = default;
};

// Returns whether both hooks give the same answers wherever they both answer: they differ at most
// in timeout, CA, failure policy and whether they can be called.
bool AnswerAlike(const Hook& a, const Hook& b);

}  // namespace interpreter::webhook

#endif  // INTERPRETER_WEBHOOK_HOOK_H_
