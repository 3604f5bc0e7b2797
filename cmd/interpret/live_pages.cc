#include "cmd/interpret/live_pages.h"

#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/status.h"
#include "base/stop_token.h"

namespace cmd::interpret {
namespace {

constexpr int64_t kPageSize = 100;

// Orders objects as servers do: by the bytes of "<namespace>/<name>".
std::string PlaceOf(const kube::Object& object) {
  return absl::StrCat(object.ns(), "/", object.name());
}

}  // namespace

absl::Status VisitAll(kube::Client& client, const kube::Resource& resource, absl::string_view ns,
                      const std::function<absl::Status(const kube::Object&)>& visit) {
  kube::ListOptions options;
  options.limit = kPageSize;
  std::string last;     // The place of the last object that was visited; "" before the first.
  std::string visited;  // After a new beginning: objects up to this place were visited.
  for (;;) {
    const absl::StatusOr<kube::ListPage> page =
        client.List(resource, ns, options, base::StopToken());
    if (absl::IsOutOfRange(page.status()) && !options.continue_token.empty()) {
      options.continue_token.clear();
      visited = last;
      continue;
    }
    if (!page.ok()) return base::Annotate(page.status(), "listing ", resource.plural);
    for (const kube::Object& object : page->items) {
      std::string place = PlaceOf(object);
      if (!visited.empty() && place <= visited) continue;
      RETURN_IF_ERROR(visit(object));
      last = std::move(place);
    }
    options.continue_token = page->continue_token;
    if (options.continue_token.empty()) return absl::OkStatus();
  }
}

}  // namespace cmd::interpret
