// Turns JSON bodies into objects.
#ifndef KUBE_CLIENT_INTERNAL_PAYLOAD_H_
#define KUBE_CLIENT_INTERNAL_PAYLOAD_H_

#include <optional>
#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "base/json.h"
#include "base/json_fields.h"
#include "kube/client/client.h"
#include "kube/meta/names.h"
#include "kube/meta/object.h"

namespace kube {

// Returns an object from the server without managedFields, and with apiVersion and kind where they
// are missing (items of lists).
Object TakeObject(json::Value root, const Gvk& gvk);

// Parses the body of a successful answer. kInternal when it is not a JSON object.
absl::StatusOr<Object> ParseObject(absl::string_view body, const Gvk& gvk);
// Parses a list; `fields` as in ListOptions.
absl::StatusOr<ListPage> ParseList(absl::string_view body, const Gvk& gvk,
                                   absl::Span<const std::string> fields);

// Returns the fields of ListOptions and those that every object needs, below `prefix` ("object"),
// and the fields `around` the objects. nullopt when all fields are wanted.
std::optional<json::Fields> WantedFields(absl::Span<const std::string> fields,
                                         absl::string_view prefix,
                                         absl::Span<const std::string> around);

}  // namespace kube

#endif  // KUBE_CLIENT_INTERNAL_PAYLOAD_H_
