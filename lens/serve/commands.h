// Commands to copy: what shows in a terminal what the page shows.
#ifndef LENS_SERVE_COMMANDS_H_
#define LENS_SERVE_COMMANDS_H_

#include <string>

#include "absl/strings/string_view.h"
#include "base/json.h"
#include "lens/why/chain.h"

namespace lens::serve {

// Returns the text as one word of bash or zsh, in printable ASCII: names of some kinds may have any
// character, and what is copied must be what is seen.
std::string ShellWord(absl::string_view text);

// Returns a list of {what, command} about the asked object, its binding, its Works and its copies.
// None of them changes anything.
json::Value CommandsFor(const why::Chain& chain, const kube::Resource& resource);

}  // namespace lens::serve

#endif  // LENS_SERVE_COMMANDS_H_
