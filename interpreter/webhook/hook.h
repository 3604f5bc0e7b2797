// A webhook as this layer knows it: what it is asked about, where it is, how it is spoken to.
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

// The messages that a hook understands; the kind of its configuration says which.
enum class Dialect {
  kInterpreterContext,  // ResourceInterpreterWebhookConfiguration.
  kExploreReview,       // ResourceExploringWebhookConfiguration.
};

// How the dialect calls the operation ("InterpretHealth", "ExploreHealthy"); "" when it has no such
// operation: hooks of that dialect are never asked for it.
absl::string_view OperationNameIn(Dialect dialect, Operation op);
// nullopt when the dialect has no operation of that name (case matters, as upstream).
std::optional<Operation> OperationNamedIn(Dialect dialect, absl::string_view name);

// How the API serves a kind; nullopt when it does not. Called while matching rules that speak of
// resources or scopes, so it must answer from memory.
using ResourceLookup = std::function<std::optional<kube::Resource>(const kube::Gvk& gvk)>;

// Which kinds a rule speaks of. Every list matches by exact text or by "*"; the empty group is the
// core group. No list may be empty, but for the one of the other dialect.
struct KindPattern {
  enum class Scope { kAny, kCluster, kNamespaced };

  std::vector<std::string> groups, versions;
  std::vector<std::string> kinds;  // Only kInterpreterContext has them.
  // Only kExploreReview has them: plural names, "*", or either with "/*"; other sub-resources match
  // nothing.
  std::vector<std::string> resources;
  Scope scope = Scope::kAny;  // Only kExploreReview has it.

  // `lookup` is asked only when group and version match; a kind that it does not know matches only
  // a pattern that leaves resource and scope open.
  bool Matches(const kube::Gvk& gvk, const ResourceLookup& lookup) const;
  // Returns whether it depends on the lookup if the pattern matches.
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

// Where a hook is and whom to trust there.
struct ClientConfig {
  std::string server;  // "https://host[:port]"; "" when there is a service.
  std::optional<ServiceReference> service;
  std::string path = "/";  // Escaped, without query.
  std::string ca_pem;      // Empty: the system's roots.
  friend bool operator==(const ClientConfig&, const ClientConfig&) = default;
};

// One entry of a configuration's `webhooks`.
struct Hook {
  std::string uid;            // "<configuration>/<webhook>"
  std::string configuration;  // The object's name; its kind follows from the dialect.
  Dialect dialect = Dialect::kInterpreterContext;
  std::vector<Rule> rules;
  ClientConfig client;
  absl::Duration timeout = absl::Seconds(10);  // One call may take so long, retries included.
  // A failed call counts as "no rule": the next layer is asked (failurePolicy: Ignore).
  bool ignores_failures = false;
  // Why no call can be made, in the words that callers are to see (kInvalidArgument, since only a
  // change of the configuration helps); OK for a usable hook. Such a hook keeps its rules: a broken
  // hook must fail, not let another layer answer.
  absl::Status unusable;

  friend bool operator==(const Hook&, const Hook&) = default;
};

// Returns whether the hooks give the same answers wherever both give one: they differ at most in
// how long they may take, whom they trust, what becomes of failures and whether they can be called.
bool AnswerAlike(const Hook& a, const Hook& b);

}  // namespace interpreter::webhook

#endif  // INTERPRETER_WEBHOOK_HOOK_H_
