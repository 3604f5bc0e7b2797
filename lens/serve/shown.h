// What all answers have in common: how objects, times and messages are shown, and errors.
#ifndef LENS_SERVE_SHOWN_H_
#define LENS_SERVE_SHOWN_H_

#include <cstddef>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "base/http_server.h"
#include "base/json.h"
#include "kube/meta/names.h"

namespace lens::serve {

// Returns what names the kind in a permanent link and for `type=`: "Deployment.v1.apps",
// "ConfigMap.v1".
std::string TypeOf(absl::string_view api_version, absl::string_view kind);

// Returns the text with at most kMostMessageBytes, of which the last ones say that it was cut.
std::string Shortened(absl::string_view text);

// Returns the time as the API writes it; null for InfinitePast, which stands for "not known".
json::Value TimeAsJson(absl::Time time);

// Returns {apiVersion, kind, namespace, name, type}.
json::Value SubjectOf(const kube::Gvk& gvk, const kube::ObjectKey& key);

// Returns an answer with the headers that all have: a browser keeps it from other origins, and
// takes it for nothing but what it is.
base::HttpResponse Answer(int code, std::string content_type, std::string body);
// The head of one in JSON, which no one else keeps.
base::HttpResponse JsonHead(int code);
base::HttpResponse JsonAnswer(int code, const json::Value& value);
// kOutOfRange when an answer may not have so many bytes.
absl::Status CheckLength(size_t bytes);
// Returns {"error": {"code", "message"}}.
base::HttpResponse ErrorAnswer(const absl::Status& status);

}  // namespace lens::serve

#endif  // LENS_SERVE_SHOWN_H_
