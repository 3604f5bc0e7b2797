// The layers that a sub-command asks: given customizations, the shipped ones, the built-in rules.
#ifndef CMD_INTERPRET_LAYERS_H_
#define CMD_INTERPRET_LAYERS_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "base/clock.h"
#include "cmd/interpret/console.h"
#include "cmd/interpret/live_objects.h"
#include "cmd/interpret/object_source.h"
#include "interpreter/customized/customization_set.h"
#include "interpreter/interpreter.h"
#include "kube/meta/names.h"

namespace cmd::interpret {

struct LayerOptions {
  std::vector<std::string> customizations;  // Files, directories, "-", TYPE/NAME.
  bool recursive = false;                   // Directories below directories, too.
  bool no_shipped = false;
  bool no_native = false;
  bool upstream_form = false;                     // Built-in answers as upstream writes them.
  const base::Clock* clock = &base::RealClock();  // Of the built-in rules; outlives the layers.
  LiveOptions live;                               // Where TYPE/NAME is looked up.
};

// What scripts used, since somebody asked last.
struct ScriptUsage {
  size_t peak = 0;       // The most that one run held, in bytes.
  uint64_t garbage = 0;  // Bytes that all runs allocated.
};

class Layers {
 public:
  // What a layer says to an operation on a kind.
  struct Verdict {
    std::string layer;
    std::string rule;    // "" when it has none.
    std::string reason;  // Why it does not answer; "" when it does.
    bool answers() const { return reason.empty(); }
  };

  // kNotFound or kInvalidArgument when a file cannot be read, or holds something else than
  // customizations.
  static absl::StatusOr<std::unique_ptr<Layers>> Build(const LayerOptions& options,
                                                       ObjectSource& source);

  const interpreter::Interpreter& chain() const { return *chain_; }
  // All four layers in the order in which they are asked.
  std::vector<Verdict> Explain(const kube::Gvk& gvk, interpreter::Operation op) const;
  // The pairs that a layer in Lua has rules for, sorted.
  std::vector<interpreter::customized::KindOperation> Covered(absl::string_view layer) const;
  // What is wrong with the customizations, a warning each, on `err`. (`check` tells more.)
  void WarnOfProblems(Console& console) const;
  // The customizations that were given, as they are written.
  const std::vector<Document>& given() const { return given_; }
  ScriptUsage TakeScriptUsage() { return std::exchange(usage_, {}); }

 private:
  // A layer that may answer, or why there is none.
  struct Slot {
    absl::string_view layer;
    const interpreter::Backend* backend = nullptr;  // The chain's.
    std::string absent;                             // Why backend is nullptr.
    std::shared_ptr<const interpreter::customized::CustomizationSet> set;  // Of a layer in Lua.
  };

  Layers() = default;
  static absl::StatusOr<interpreter::customized::Customization> ParseOne(const Document& document);
  std::unique_ptr<interpreter::Backend> NewScripts(
      absl::string_view layer,
      std::shared_ptr<const interpreter::customized::CustomizationSet> set);
  std::string WhyNot(const Slot& slot, const kube::Gvk& gvk, interpreter::Operation op) const;

  std::vector<Slot> slots_;
  std::unique_ptr<interpreter::Interpreter> chain_;
  std::vector<Document> given_;
  ScriptUsage usage_;
};

}  // namespace cmd::interpret

#endif  // CMD_INTERPRET_LAYERS_H_
