// Patches JSON text so that nothing else of it changes.
#ifndef OVERRIDES_INTERNAL_JSON_TEXT_H_
#define OVERRIDES_INTERNAL_JSON_TEXT_H_

#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "base/json.h"
#include "kube/meta/patch.h"

namespace overrides {

// Applies the operations add, remove and replace of a JSON patch (RFC 6902, with the semantics of
// kube::ApplyJsonPatch) to a document that is an object or a list. Unlike json::Value, the result
// keeps the order of members and the digits of numbers; it is compact, members that are added come
// last, and < > & are escaped, as evanphx/json-patch does. Empty text stays empty. kInvalidArgument
// when the text is not JSON or an operation does not apply, or when text or result are nested
// deeper than 512 levels; kResourceExhausted when this is more work than the budget has left.
absl::StatusOr<std::string> PatchJsonText(absl::string_view text, const json::Value& operations,
                                          kube::PatchBudget& budget);

}  // namespace overrides

#endif  // OVERRIDES_INTERNAL_JSON_TEXT_H_
