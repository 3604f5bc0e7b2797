// The text that Go's encoder writes of a struct: its fields stand in the order of their
// declaration, while json::Write sorts them.
#ifndef KUBE_SCHEMA_GO_TEXT_H_
#define KUBE_SCHEMA_GO_TEXT_H_

#include <string>

#include "base/json.h"
#include "kube/schema/types.h"

namespace kube::schema {

// Writes Go's escapes for HTML. Members that the struct does not have are not written; strings,
// booleans and integers of a wrong type count as zero. REQUIRES: quantities and times have their
// canonical form, and are there where the struct always has them.
std::string GoText(const Struct& type, const json::Value& value);

}  // namespace kube::schema

#endif  // KUBE_SCHEMA_GO_TEXT_H_
