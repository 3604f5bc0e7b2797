// Text of others inside XML: pictures, test reports.
#ifndef TOOL_XML_H_
#define TOOL_XML_H_

#include <string>

#include "absl/strings/string_view.h"

namespace tool {

// Returns the text as it stands in an element or an attribute: with entities, with "?" for control
// characters other than line ends and tabs, and with U+FFFD for what XML cannot represent.
std::string XmlText(absl::string_view text);

}  // namespace tool

#endif  // TOOL_XML_H_
