// Flags that several sub-commands share, beside those of tool/flags.h.
#ifndef CMD_LENS_FLAGS_H_
#define CMD_LENS_FLAGS_H_

#include <string>
#include <vector>

#include "interpreter/customized/customization_set.h"
#include "tool/flags.h"

namespace cmd::lens {

enum class Output { kText, kJson, kHtml };

// Adds the daemon's flags --skipped-propagating-apis and --skipped-propagating-namespaces, which no
// object of the control plane records.
void AddSkipFlags(CLI::App& app, std::string& apis, std::vector<std::string>& namespaces);

// Adds --combined-customizations, which stands for the daemon's feature gate of that name.
void AddCombinedFlag(CLI::App& app, interpreter::customized::MergeOptions& merge);

// Adds -o/--output text|json.
void AddOutputFlag(CLI::App& app, Output& output);
// Adds -o/--output text|json|html.
void AddPageFlag(CLI::App& app, Output& output);

}  // namespace cmd::lens

#endif  // CMD_LENS_FLAGS_H_
