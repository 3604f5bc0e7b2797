#include "lens/serve/shown.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "base/cut_text.h"
#include "kube/meta/object.h"
#include "lens/serve/bounds.h"

namespace lens::serve {
namespace {

constexpr char kContentPolicy[] =
    "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; "
    "img-src 'self' blob:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; "
    "require-trusted-types-for 'script'; trusted-types 'none'";

int CodeOf(const absl::Status& status) {
  switch (status.code()) {
    case absl::StatusCode::kInvalidArgument:
      return 400;
    case absl::StatusCode::kUnauthenticated:
      return 401;
    case absl::StatusCode::kPermissionDenied:
      return 403;
    case absl::StatusCode::kNotFound:
      return 404;
    case absl::StatusCode::kUnimplemented:
      return 405;
    case absl::StatusCode::kResourceExhausted:
      return 429;
    case absl::StatusCode::kUnavailable:
    case absl::StatusCode::kFailedPrecondition:
      return 503;
    case absl::StatusCode::kDeadlineExceeded:
    case absl::StatusCode::kCancelled:
      return 504;
    default:
      return 500;
  }
}

}  // namespace

std::string TypeOf(absl::string_view api_version, absl::string_view kind) {
  const size_t slash = api_version.find('/');
  if (slash == absl::string_view::npos) return absl::StrCat(kind, ".", api_version);
  return absl::StrCat(kind, ".", api_version.substr(slash + 1), ".", api_version.substr(0, slash));
}

std::string Shortened(absl::string_view text) { return base::CutText(text, kMostMessageBytes); }

json::Value TimeAsJson(absl::Time time) {
  return time == absl::InfinitePast() ? json::Value() : json::Value(kube::FormatTime(time));
}

json::Value SubjectOf(const kube::Gvk& gvk, const kube::ObjectKey& key) {
  return json::Value::Object({{"apiVersion", gvk.ApiVersion()},
                              {"kind", gvk.kind},
                              {"namespace", key.ns},
                              {"name", key.name},
                              {"type", TypeOf(gvk.ApiVersion(), gvk.kind)}});
}

base::HttpResponse Answer(int code, std::string content_type, std::string body) {
  base::HttpResponse response{code, std::move(content_type), {}, std::move(body)};
  response.headers = {{"Content-Security-Policy", kContentPolicy},
                      {"Cross-Origin-Opener-Policy", "same-origin"},
                      {"Cross-Origin-Resource-Policy", "same-origin"},
                      {"Referrer-Policy", "no-referrer"},
                      {"X-Content-Type-Options", "nosniff"},
                      {"X-Frame-Options", "DENY"}};
  return response;
}

base::HttpResponse JsonHead(int code) {
  base::HttpResponse response = Answer(code, "application/json", "");
  response.headers.emplace_back("Cache-Control", "no-store");
  return response;
}

base::HttpResponse JsonAnswer(int code, const json::Value& value) {
  base::HttpResponse response = JsonHead(code);
  response.body = json::Write(value);
  return response;
}

absl::Status CheckLength(size_t bytes) {
  if (bytes <= kMostAnswerBytes) return absl::OkStatus();
  return absl::OutOfRangeError(
      absl::StrCat("the answer has more than ", kMostAnswerBytes >> 20, " MB: ask for less of it"));
}

base::HttpResponse ErrorAnswer(const absl::Status& status) {
  const int code = CodeOf(status);
  base::HttpResponse response = JsonAnswer(
      code, json::Value::Object(
                {{"error", json::Value::Object(
                               {{"code", code}, {"message", Shortened(status.message())}})}}));
  if (code == 401) response.headers.emplace_back("WWW-Authenticate", "Bearer");
  if (code == 405) response.headers.emplace_back("Allow", "GET, HEAD");
  if (code == 429) response.headers.emplace_back("Retry-After", "5");
  return response;
}

}  // namespace lens::serve
