// Lists for a view: what could not be read is noted, and the rest is shown.
#ifndef LENS_SERVE_LISTS_H_
#define LENS_SERVE_LISTS_H_

#include <string>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/strings/string_view.h"
#include "base/json.h"
#include "base/stop_token.h"
#include "kube/client/client.h"
#include "lens/why/chain.h"

namespace lens::serve {

// Not thread-safe.
class ListsOfView {
 public:
  // REQUIRES: the arguments outlive this object.
  ListsOfView(kube::Client& client, const base::StopToken& stop) : client_(client), stop_(stop) {}

  // Returns all objects of the resource with these fields of them; those that came before an error.
  // A kind that the server does not have has none.
  why::Objects All(const kube::Resource& resource, std::vector<std::string> fields,
                   absl::string_view ns = "");
  // Hands them out one by one; goes on as long as `take` returns true. Returns false when they
  // could not all be read.
  bool Each(const kube::Resource& resource, std::vector<std::string> fields, absl::string_view ns,
            absl::FunctionRef<bool(kube::Object)> take);

  // Returns the sentence that says so if the control plane has no such namespace, and none if it
  // has it, does not say, or `ns` is empty.
  json::Value UnknownNamespace(const std::string& ns);

  void Note(std::string sentence) { unread_.push_back(std::move(sentence)); }
  // Returns an error when nothing could be read at all.
  absl::Status Check() const;
  json::Value Unread() const;

 private:
  kube::Client& client_;
  const base::StopToken& stop_;
  std::vector<std::string> unread_;
  absl::Status first_error_;
  bool any_read_ = false;
};

}  // namespace lens::serve

#endif  // LENS_SERVE_LISTS_H_
