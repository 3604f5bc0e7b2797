// Formats heads of answers and takes targets of requests apart. What comes from a client is never
// refused here: malformed escapes stay as they are. What handlers put into headers is made
// harmless: a line break, by which one header could become two, is written as a space.

#include "base/internal/http_message.h"

#include <boost/beast/http/status.hpp>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/escaping.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/str_split.h"

namespace base::internal {
namespace {

std::string PercentDecode(absl::string_view text) {
  std::string decoded;
  decoded.reserve(text.size());
  for (size_t i = 0; i < text.size(); ++i) {
    const bool escape = text[i] == '%' && i + 2 < text.size() &&
                        absl::ascii_isxdigit(text[i + 1]) && absl::ascii_isxdigit(text[i + 2]);
    if (!escape) {
      decoded += text[i];
      continue;
    }
    decoded += absl::HexStringToBytes(text.substr(i + 1, 2));
    i += 2;
  }
  return decoded;
}

std::string DecodeQueryPart(absl::string_view text) {
  return PercentDecode(absl::StrReplaceAll(text, {{"+", " "}}));
}

// Turns "http://host:port/path", which clients send to proxies, into "/path".
absl::string_view WithoutAuthority(absl::string_view target) {
  const size_t scheme_end = target.find("://");
  if (absl::StartsWith(target, "/") || scheme_end == absl::string_view::npos) return target;
  const size_t path = target.find_first_of("/?", scheme_end + 3);
  return path == absl::string_view::npos ? "/" : target.substr(path);
}

absl::string_view Reason(int code) {
  const auto reason = boost::beast::http::obsolete_reason(boost::beast::http::int_to_status(code));
  return {reason.data(), reason.size()};
}

void AppendField(std::string& head, absl::string_view name, absl::string_view value) {
  if (value.find_first_of("\r\n") == absl::string_view::npos) {
    absl::StrAppend(&head, name, ": ", value, "\r\n");
    return;
  }
  AppendField(head, name, absl::StrReplaceAll(value, {{"\r", " "}, {"\n", " "}}));
}

}  // namespace

void ParseTarget(HttpRequest& request) {
  absl::string_view target = WithoutAuthority(request.target);
  target = target.substr(0, target.find('#'));
  const size_t question = target.find('?');
  const absl::string_view path = target.substr(0, question);
  request.path = path.empty() ? "/" : PercentDecode(path);
  if (question == absl::string_view::npos) return;
  for (absl::string_view part :
       absl::StrSplit(target.substr(question + 1), '&', absl::SkipEmpty())) {
    const std::pair<absl::string_view, absl::string_view> pair =
        absl::StrSplit(part, absl::MaxSplits('=', 1));
    request.query.emplace_back(DecodeQueryPart(pair.first), DecodeQueryPart(pair.second));
  }
}

bool HasBody(int code, const ResponseRules& rules) {
  return !rules.head && code >= 200 && code != 204 && code != 304;
}

size_t BodyLength(const HttpResponse& response) {
  size_t length = response.body.size();
  for (const SharedBytes& bytes : response.more_body) length += bytes->size();
  return length;
}

std::string FormatHead(const HttpResponse& response, const ResponseRules& rules, Framing framing) {
  std::string head = absl::StrCat("HTTP/1.1 ", response.code, " ", Reason(response.code), "\r\n");
  const bool final_answer = response.code >= 200;
  if (final_answer && !response.content_type.empty()) {
    AppendField(head, "Content-Type", response.content_type);
  }
  for (const auto& [name, value] : response.headers) AppendField(head, name, value);
  // A 304 and a 204 have no body, and 1xx are not final answers.
  const bool may_have_length = final_answer && response.code != 204 && response.code != 304;
  if (framing == Framing::kChunked && may_have_length) head += "Transfer-Encoding: chunked\r\n";
  if (framing == Framing::kLength && may_have_length) {
    const uint64_t length = response.stream_length.value_or(BodyLength(response));
    absl::StrAppend(&head, "Content-Length: ", length, "\r\n");
  }
  // 101 is the only such answer that is sent.
  if (!final_answer) {
    head += "Connection: Upgrade\r\n";
  } else if (!rules.keep_alive) {
    head += "Connection: close\r\n";
  } else if (rules.http10) {
    head += "Connection: keep-alive\r\n";
  }
  head += "\r\n";
  return head;
}

std::string ChunkHead(size_t size) { return absl::StrCat(absl::Hex(size), "\r\n"); }

}  // namespace base::internal
