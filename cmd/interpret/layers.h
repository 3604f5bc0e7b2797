// Builds the layers that a sub-command asks: given customizations, webhooks, the shipped
// customizations, the built-in rules.
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
#include "cmd/interpret/object_source.h"
#include "cmd/interpret/webhooks.h"
#include "interpreter/customized/customization_set.h"
#include "interpreter/interpreter.h"
#include "kube/meta/names.h"
#include "tool/console.h"
#include "tool/live_objects.h"

namespace cmd::interpret {

struct LayerOptions {
  std::vector<std::string> customizations;  // Files, directories, "-", TYPE/NAME.
  std::vector<std::string> webhooks;        // Likewise, with webhook configurations.
  bool recursive = false;                   // True: directories below directories are read, too.
  interpreter::customized::MergeOptions merge;  // As the controller manager has it.
  bool no_shipped = false;
  bool no_native = false;
  bool upstream_form = false;  // True: built-in answers have upstream's form.
  const base::Clock* clock =
      &base::RealClock();  // Used by the built-in rules. REQUIRES: outlives the layers.
  // How to look up TYPE/NAME.
  tool::LiveOptions live{.program = "karmada-interpret"};
};

// The memory that scripts used since the last call of TakeScriptUsage.
struct ScriptUsage {
  size_t peak = 0;       // The most that one run held, in bytes.
  uint64_t garbage = 0;  // Bytes that all runs allocated.
};

// A call of a webhook.
struct HookCall {
  std::string hook;  // "<configuration>/<webhook>"
  absl::Duration took;
  absl::Status status;
  // True if it failed and the hook's configuration ignores failures, so that a later layer was
  // asked.
  bool passed_on = false;

  // Describes a failure that was ignored. REQUIRES: passed_on.
  std::string IgnoredText() const;
};

// Returns the layer that passed a question on, "" when none did.
absl::string_view PassingOn(const std::optional<HookCall>& call);

class Layers {
 public:
  // The result of asking one layer about an operation on a kind.
  struct Verdict {
    std::string layer;
    std::string rule;                  // "" when the layer has none.
    std::string reason;                // Why the layer does not answer; "" when it does.
    std::vector<std::string> details;  // Remarks on single hooks, one line each.
    bool answers() const { return reason.empty(); }
  };

  // kNotFound or kInvalidArgument when a file cannot be read, or contains something other than
  // customizations.
  static absl::StatusOr<std::unique_ptr<Layers>> Build(const LayerOptions& options,
                                                       ObjectSource& source);

  const interpreter::Interpreter& chain() const { return *chain_; }
  // Returns all four layers in the order in which they are asked. `call` is the webhook call that
  // the question led to, if any.
  std::vector<Verdict> Explain(const kube::Gvk& gvk, interpreter::Operation op,
                               const std::optional<HookCall>& call) const;
  // Returns the kinds and operations for which a layer in Lua has rules, sorted.
  std::vector<interpreter::customized::KindOperation> Covered(absl::string_view layer) const;
  // Returns the kinds that webhooks' rules name (Webhooks::kinds).
  const std::set<kube::Gvk>& hooked_kinds() const { return webhooks_.kinds; }
  // Writes a warning on `err` for each problem of customizations and webhook configurations.
  // (`check` finds more in customizations.)
  void WarnOfProblems(tool::Console& console) const;
  // Returns the customizations that were given, as they are written.
  const std::vector<tool::Document>& given() const { return given_; }
  ScriptUsage TakeScriptUsage() { return std::exchange(usage_, {}); }
  // Returns the probable mistakes in results of scripts since the last such call:
  // "<customization>/<field>:<line>: in <function>: <text>".
  std::set<std::string> TakeWarnings() { return std::exchange(warnings_, {}); }
  // Returns the last call of a webhook since this was last called.
  std::optional<HookCall> TakeHookCall() { return std::exchange(hook_call_, std::nullopt); }

 private:
  // A layer, or the reason why there is none.
  struct Slot {
    absl::string_view layer;
    const interpreter::Backend* backend = nullptr;  // Owned by the chain.
    std::string absent;                             // Why `backend` is nullptr.
    std::shared_ptr<const interpreter::customized::CustomizationSet>
        set;  // The rules of a layer in Lua.
  };

  using Backends = std::vector<std::unique_ptr<interpreter::Backend>>;

  Layers() = default;
  // Each of these adds its slot, and its layer if there is one.
  absl::Status AddCustomizations(const LayerOptions& options, ObjectSource& source,
                                 Backends& backends);
  absl::Status AddWebhooks(const LayerOptions& options, ObjectSource& source, Backends& backends);
  void AddShipped(const LayerOptions& options, Backends& backends);
  void AddNative(const LayerOptions& options, Backends& backends);
  static absl::StatusOr<interpreter::customized::Customization> ParseOne(
      const tool::Document& document);
  std::unique_ptr<interpreter::Backend> NewScripts(
      absl::string_view layer,
      std::shared_ptr<const interpreter::customized::CustomizationSet> set);
  std::string WhyNot(const Slot& slot, const kube::Gvk& gvk, interpreter::Operation op) const;
  // Returns why hooks that are not asked do not apply.
  std::vector<std::string> HookDetails(const kube::Gvk& gvk, interpreter::Operation op) const;

  std::vector<Slot> slots_;
  std::unique_ptr<interpreter::Interpreter> chain_;
  std::vector<tool::Document> given_;
  Webhooks webhooks_;
  ScriptUsage usage_;
  std::set<std::string> warnings_;
  std::optional<HookCall> hook_call_;
};

}  // namespace cmd::interpret

#endif  // CMD_INTERPRET_LAYERS_H_
