#include "kube/client/internal/request_text.h"

#include <boost/beast/core/buffers_range.hpp>
#include <boost/beast/http/empty_body.hpp>
#include <boost/beast/http/message.hpp>
#include <boost/beast/http/serializer.hpp>

#include <algorithm>

#include "absl/strings/ascii.h"
#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"

namespace kube {
namespace {

namespace http = boost::beast::http;

bool IsVisible(absl::string_view text) {
  return !text.empty() && std::all_of(text.begin(), text.end(),
                                      [](unsigned char c) { return c > ' ' && c != 0x7f; });
}

bool IsFieldValue(absl::string_view text) {
  return std::none_of(text.begin(), text.end(),
                      [](unsigned char c) { return absl::ascii_iscntrl(c) && c != '\t'; });
}

boost::beast::string_view View(absl::string_view text) { return {text.data(), text.size()}; }

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
  constexpr int kHttp11 = 11;
  http::request<http::empty_body> message;
  message.version(kHttp11);
  message.method_string(View(request.method));
  message.target(View(request.target));
  for (const auto& [name, value] : request.headers) message.insert(View(name), View(value));
  if (!request.body.empty() || MayHaveBody(request.method)) {
    message.content_length(request.body.size());
  }
  std::string out;
  http::request_serializer<http::empty_body> serializer(message);
  boost::beast::error_code error;
  while (!serializer.is_done()) {
    serializer.next(error, [&](boost::beast::error_code&, const auto& buffers) {
      size_t size = 0;
      for (const auto buffer : boost::beast::buffers_range_ref(buffers)) {
        out.append(static_cast<const char*>(buffer.data()), buffer.size());
        size += buffer.size();
      }
      serializer.consume(size);
    });
    if (error) break;  // Writing to memory cannot fail.
  }
  out.append(request.body.data(), request.body.size());
  return out;
}

}  // namespace kube
