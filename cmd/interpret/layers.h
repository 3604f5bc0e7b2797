// The layers that a sub-command asks: given customizations, webhooks, the shipped customizations,
// the built-in rules.
#ifndef CMD_INTERPRET_LAYERS_H_
#define CMD_INTERPRET_LAYERS_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "base/clock.h"
#include "cmd/interpret/console.h"
#include "cmd/interpret/live_objects.h"
#include "cmd/interpret/object_source.h"
#include "cmd/interpret/webhooks.h"
#include "interpreter/customized/customization_set.h"
#include "interpreter/interpreter.h"
#include "kube/meta/names.h"

namespace cmd::interpret {

struct LayerOptions {
  std::vector<std::string> customizations;  // Files, directories, "-", TYPE/NAME.
  std::vector<std::string> webhooks;        // The same, of webhook configurations.
  bool recursive = false;                   // Directories below directories, too.
  bool no_shipped = false;
  bool no_native = false;
  bool upstream_form = false;  // Built-in answers as upstream writes them.
  const base::Clock* clock =
      &base::RealClock();  // The built-in rules ask it; it outlives the layers.
  LiveOptions live;        // Where TYPE/NAME is looked up.
};

// What scripts used, since somebody asked last.
struct ScriptUsage {
  size_t peak = 0;       // The most that one run held, in bytes.
  uint64_t garbage = 0;  // Bytes that all runs allocated.
};

// A call of a webhook.
struct HookCall {
  std::string hook;  // "<configuration>/<webhook>"
  absl::Duration took;
  absl::Status status;
  // It failed, and the hook's configuration asks to ignore that: a later layer was asked.
  bool passed_on = false;

  // What there is to say of a failure that was ignored. REQUIRES: passed_on.
  std::string IgnoredText() const;
};

// The layer that passed a question on, "" when none did.
absl::string_view PassingOn(const std::optional<HookCall>& call);

class Layers {
 public:
  // What a layer says to an operation on a kind.
  struct Verdict {
    std::string layer;
    std::string rule;                  // "" when it has none.
    std::string reason;                // Why it does not answer; "" when it does.
    std::vector<std::string> details;  // What there is to say of single hooks, a line each.
    bool answers() const { return reason.empty(); }
  };

  // kNotFound or kInvalidArgument when a file cannot be read, or holds something else than
  // customizations.
  static absl::StatusOr<std::unique_ptr<Layers>> Build(const LayerOptions& options,
                                                       ObjectSource& source);

  const interpreter::Interpreter& chain() const { return *chain_; }
  // All four layers in the order in which they are asked. `call` is the one that the question led
  // to, if any.
  std::vector<Verdict> Explain(const kube::Gvk& gvk, interpreter::Operation op,
                               const std::optional<HookCall>& call) const;
  // The pairs that a layer in Lua has rules for, sorted.
  std::vector<interpreter::customized::KindOperation> Covered(absl::string_view layer) const;
  // The kinds that webhooks' rules name (Webhooks::kinds).
  const std::set<kube::Gvk>& hooked_kinds() const { return webhooks_.kinds; }
  // What is wrong with customizations and webhook configurations, a warning each, on `err`.
  // (`check` finds more in customizations.)
  void WarnOfProblems(Console& console) const;
  // The customizations that were given, as they are written.
  const std::vector<Document>& given() const { return given_; }
  ScriptUsage TakeScriptUsage() { return std::exchange(usage_, {}); }
  // What looked like slips in the results of scripts since somebody asked last: "<customization>/
  // <field>:<line>: in <function>: <text>".
  std::set<std::string> TakeWarnings() { return std::exchange(warnings_, {}); }
  // The last call of a webhook since somebody asked last.
  std::optional<HookCall> TakeHookCall() { return std::exchange(hook_call_, std::nullopt); }

 private:
  // A layer that may answer, or why there is none.
  struct Slot {
    absl::string_view layer;
    const interpreter::Backend* backend = nullptr;  // The chain's.
    std::string absent;                             // Why backend is nullptr.
    std::shared_ptr<const interpreter::customized::CustomizationSet>
        set;  // What a layer in Lua answers with.
  };

  using Backends = std::vector<std::unique_ptr<interpreter::Backend>>;

  Layers() = default;
  // Each adds its slot, and its layer if there is one.
  absl::Status AddCustomizations(const LayerOptions& options, ObjectSource& source,
                                 Backends& backends);
  absl::Status AddWebhooks(const LayerOptions& options, ObjectSource& source, Backends& backends);
  void AddShipped(const LayerOptions& options, Backends& backends);
  void AddNative(const LayerOptions& options, Backends& backends);
  static absl::StatusOr<interpreter::customized::Customization> ParseOne(const Document& document);
  std::unique_ptr<interpreter::Backend> NewScripts(
      absl::string_view layer,
      std::shared_ptr<const interpreter::customized::CustomizationSet> set);
  std::string WhyNot(const Slot& slot, const kube::Gvk& gvk, interpreter::Operation op) const;
  // What the hooks that are not asked say to it.
  std::vector<std::string> HookDetails(const kube::Gvk& gvk, interpreter::Operation op) const;

  std::vector<Slot> slots_;
  std::unique_ptr<interpreter::Interpreter> chain_;
  std::vector<Document> given_;
  Webhooks webhooks_;
  ScriptUsage usage_;
  std::set<std::string> warnings_;
  std::optional<HookCall> hook_call_;
};

}  // namespace cmd::interpret

#endif  // CMD_INTERPRET_LAYERS_H_
