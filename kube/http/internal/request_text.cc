#include "kube/http/internal/request_text.h"

#include <algorithm>

#include "absl/strings/ascii.h"
#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"

namespace kube {
namespace {

bool IsVisible(absl::string_view text) {
  return !text.empty() && std::all_of(text.begin(), text.end(),
                                      [](unsigned char c) { return c > ' ' && c != 0x7f; });
}

bool IsFieldValue(absl::string_view text) {
  return std::none_of(text.begin(), text.end(),
                      [](unsigned char c) { return absl::ascii_iscntrl(c) && c != '\t'; });
}

bool MayHaveBody(absl::string_view method) {
  return method == "POST" || method == "PUT" || method == "PATCH";
}

}  // namespace

absl::Status CheckRequest(const RequestText& request) {
  if (!IsVisible(request.method) || !IsVisible(request.target)) {
    return absl::InvalidArgumentError(absl::StrCat(
        "the method or path of a request holds a character that is not allowed there"));
  }
  for (const auto& [name, value] : request.headers) {
    if (IsVisible(name) && name.find(':') == std::string::npos && IsFieldValue(value)) continue;
    return absl::InvalidArgumentError(
        absl::StrCat("the header ", absl::CEscape(name),
                     " of a request holds a character that is not allowed there"));
  }
  return absl::OkStatus();
}

std::string WriteRequest(const RequestText& request) {
  std::string out = absl::StrCat(request.method, " ", request.target, " HTTP/1.1\r\n");
  for (const auto& [name, value] : request.headers) {
    absl::StrAppend(&out, name, ": ", value, "\r\n");
  }
  if (!request.body.empty() || MayHaveBody(request.method)) {
    absl::StrAppend(&out, "Content-Length: ", request.body.size(), "\r\n");
  }
  absl::StrAppend(&out, "\r\n", request.body);
  return out;
}

}  // namespace kube
