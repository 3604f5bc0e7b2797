// The layers that a sub-command asks: given customizations, the shipped ones, the built-in rules.
#ifndef CMD_INTERPRET_LAYERS_H_
#define CMD_INTERPRET_LAYERS_H_

#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "cmd/interpret/documents.h"
#include "interpreter/interpreter.h"
#include "kube/meta/names.h"

namespace cmd::interpret {

struct LayerOptions {
  std::vector<std::string> customizations;  // Files, directories, "-".
  bool recursive = false;                   // Directories below directories, too.
  bool no_shipped = false;
  bool no_native = false;
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
                                                       DocumentReader& reader);

  const interpreter::Interpreter& chain() const { return *chain_; }
  // All four layers in the order in which they are asked.
  std::vector<Verdict> Explain(const kube::Gvk& gvk, interpreter::Operation op) const;

 private:
  Layers() = default;

  std::unique_ptr<interpreter::Interpreter> chain_;
};

}  // namespace cmd::interpret

#endif  // CMD_INTERPRET_LAYERS_H_
