// The words for answers without a Status object are those of apimachinery's
// NewGenericServerResponse, which client-go calls for them.

#include "kube/client/go_words.h"

#include <optional>

#include "absl/strings/cord.h"
#include "absl/strings/str_cat.h"
#include "base/go_syntax.h"
#include "kube/client/api_error.h"
#include "kube/client/client.h"

namespace kube {
namespace {

struct Words {
  int code;
  const char* text;
};
constexpr Words kWords[] = {
    {400, "the server rejected our request for an unknown reason"},
    {401, "the server has asked for the client to provide credentials"},
    {404, "the server could not find the requested resource"},
    {405, "the server does not allow this method on the requested resource"},
    {409, "the server reported a conflict"},
    {422, "the server rejected our request due to an error in our request"},
    {429, "the server has received too many requests and has asked us to try again later"},
    {503, "the server is currently unable to handle the request"},
    {504,
     "the server was unable to return a response in the time allotted, but may still be processing "
     "the request"},
};

std::string WordsFor(int code, absl::string_view body) {
  for (const Words& words : kWords) {
    if (words.code == code) return words.text;
  }
  // The answer itself says who may not do what.
  if (code == 403 || code == 415) return std::string(body);
  if (code == 406) {
    return body == kUnreadableAnswer
               ? "the server was unable to respond with a content type that the client supports"
               : std::string(body);
  }
  if (code >= 500) {
    return absl::StrCat("an error on the server (", base::GoQuote(body),
                        ") has prevented the request from succeeding");
  }
  return absl::StrCat("the server responded with the status code ", code,
                      " but did not return more information");
}

}  // namespace

absl::Status InGoWords(const absl::Status& error, absl::string_view call) {
  const ApiFailure failure = FailureOf(error);
  if (error.ok() || failure.code == 0) return error;
  std::string message = failure.message;
  if (const std::optional<std::string> body = AnswerWithoutStatus(error); body.has_value()) {
    message = WordsFor(failure.code, *body);
    if (!call.empty()) absl::StrAppend(&message, " (", call, ")");
  }
  absl::Status worded(error.code(), message);
  error.ForEachPayload([&worded](absl::string_view type, const absl::Cord& payload) {
    worded.SetPayload(type, payload);
  });
  return worded;
}

std::string GoCall(absl::string_view verb, const Resource& resource, absl::string_view name) {
  std::string call = absl::StrCat(verb, " ", resource.plural);
  if (!resource.gvk.group.empty()) absl::StrAppend(&call, ".", resource.gvk.group);
  if (!name.empty()) absl::StrAppend(&call, " ", name);
  return call;
}

}  // namespace kube
