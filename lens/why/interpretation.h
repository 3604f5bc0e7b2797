// What to do when the interpreter fails: by the words of its messages.
#ifndef LENS_WHY_INTERPRETATION_H_
#define LENS_WHY_INTERPRETATION_H_

#include <string>

#include "absl/strings/string_view.h"
#include "interpreter/interpreter.h"
#include "lens/why/chain.h"

namespace lens::why {

// Returns what to do about a webhook that was asked `op` about the template and has failed with
// this message: a sentence without its full stop.
std::string AdviceForWebhook(const Chain& chain, interpreter::Operation op,
                             absl::string_view message);

// The same for any layer: the message of the interpreter names the operation and the layer. Returns
// `otherwise` for a message that is not the interpreter's.
std::string AdviceForInterpreter(
    const Chain& chain, absl::string_view message,
    absl::string_view otherwise = "mend the customization or the webhook that the message names");

}  // namespace lens::why

#endif  // LENS_WHY_INTERPRETATION_H_
