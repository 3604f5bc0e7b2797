// What `list` shows of a control plane: each customization and webhook that is there, whether the
// daemon has loaded it, and what its calls cost.
#ifndef CMD_INTERPRET_LIVE_LIST_H_
#define CMD_INTERPRET_LIVE_LIST_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "base/json.h"
#include "interpreter/customized/customization_set.h"
#include "interpreter/interpreter.h"
#include "tool/console.h"
#include "tool/live_objects.h"

namespace cmd::interpret {

struct LiveListQuestion {
  tool::LiveOptions live;
  std::string metrics_url;                          // "" for none.
  std::string kind;                                 // Only rules for this kind; "" for all.
  std::optional<interpreter::Operation> operation;  // Only rules for it; nullopt for all.
  interpreter::customized::MergeOptions merge;      // As the controller manager has it.
};

// The calls since the daemon was started; of a script, since it was loaded.
struct RuleCalls {
  uint64_t calls = 0, errors = 0;
  double seconds = 0;  // Of all calls together.
};

// A customization, or one webhook of a configuration.
struct LiveRule {
  std::string configuration;  // The kind of the object.
  std::string name;           // The object's name, for a webhook "<configuration>/<webhook>".
  std::vector<std::string> targets;  // "example.io/v1 Widget"
  std::vector<std::string> operations;
  int64_t generation = 0;
  // The generation that is known to be loaded; 0 when it is known that none is, nullopt when
  // nothing is known.
  std::optional<int64_t> loaded;
  int64_t problems = 0;            // Those that the daemon's metrics name; events do not.
  bool by_event = false;           // True: `loaded` is from an event, not from the daemon itself.
  std::optional<RuleCalls> calls;  // nullopt without metrics.
};

struct LiveList {
  std::vector<LiveRule> rules;
  std::vector<std::string> warnings;  // What could not be read; problems of configurations.
  std::vector<std::string> kinds;     // Those that customizations are about, wanted or not.
};

// Reads the rules from the control plane, and from the daemon's metrics if there is an URL: then
// metrics that cannot be read are an error.
absl::StatusOr<LiveList> ReadLiveList(const LiveListQuestion& question);

std::string TableOf(const LiveList& list, const tool::Colours& colours);
json::Value JsonOf(const LiveList& list);

}  // namespace cmd::interpret

#endif  // CMD_INTERPRET_LIVE_LIST_H_
