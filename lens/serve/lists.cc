#include "lens/serve/lists.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "api/resources.h"
#include "kube/client/errors.h"
#include "lens/serve/shown.h"
#include "lens/why/diagnosis.h"

namespace lens::serve {

why::Objects ListsOfView::All(const kube::Resource& resource, std::vector<std::string> fields,
                              absl::string_view ns) {
  why::Objects all;
  Each(resource, std::move(fields), ns, [&](kube::Object object) {
    all.push_back(kube::Share(std::move(object)));
    return true;
  });
  return all;
}

bool ListsOfView::Each(const kube::Resource& resource, std::vector<std::string> fields,
                       absl::string_view ns, absl::FunctionRef<bool(kube::Object)> take) {
  kube::ListOptions options;
  options.fields = std::move(fields);
  options.paced = false;
  do {
    absl::StatusOr<kube::ListPage> page = client_.List(resource, ns, options, stop_);
    if (!page.ok()) {
      if (kube::IsNoSuchKind(page.status())) return true;
      Note(absl::StrCat(resource.gvk.kind, " objects: ", page.status().message()));
      if (first_error_.ok()) first_error_ = page.status();
      return false;
    }
    any_read_ = true;
    for (kube::Object& object : page->items) {
      if (!take(std::move(object))) return true;
    }
    options.continue_token = page->continue_token;
  } while (!options.continue_token.empty());
  return true;
}

json::Value ListsOfView::UnknownNamespace(const std::string& ns) {
  json::Value sentences = json::Value::Array();
  if (!ns.empty() && kube::IsGone(client_.Get(api::Namespaces(), {"", ns}, stop_).status())) {
    sentences.Append(absl::StrCat("The control plane has no namespace ", ns, "."));
  }
  return sentences;
}

absl::Status ListsOfView::Check() const { return any_read_ ? absl::OkStatus() : first_error_; }

json::Value ListsOfView::Unread() const {
  json::Value sentences = json::Value::Array();
  for (const std::string& text : unread_) sentences.Append(why::AsSentence(Shortened(text)));
  return sentences;
}

}  // namespace lens::serve
