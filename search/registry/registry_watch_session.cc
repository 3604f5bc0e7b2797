// What a client sees depends on its selectors: a registry that begins to match is ADDED, one that
// stops matching is DELETED with its last matching state. The first bookmark of the feed marks the
// end of the initial objects; later ones are sent if the client asked for bookmarks.
//
// The sink holds the session alive until it is unsubscribed, and the feed may call it while the
// session is being closed: it then does nothing.

#include "search/registry/registry_watch_session.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "api/resource_registry.h"
#include "kube/server/api_errors.h"
#include "search/registry/registry_writes.h"

namespace search {
namespace {

// Tables are made by one printer for ever.
std::shared_ptr<const kube::server::TablePrinter> Printer() {
  return {std::shared_ptr<void>(), &RegistryPrinter()};
}

}  // namespace

RegistryWatchSession::RegistryWatchSession(RegistryFeed& feed, Options options)
    : feed_(feed),
      options_(std::move(options)),
      encoder_(options_.wish.form, options_.wish.include, Printer()) {}

void RegistryWatchSession::Start(std::shared_ptr<base::HttpStream> stream) {
  stream_ = std::move(stream);
  stream_->OnClosed([weak = weak_from_this()] {
    if (const auto session = weak.lock()) session->Detach();
  });
  const auto id = feed_.Subscribe(
      {options_.request.initial, options_.request.since},
      [self = shared_from_this()](const FeedEvent& event) { self->OnEvent(event); });
  if (!id.ok()) {
    Write(kube::server::ErrorFrame(ApiErrorOf(id.status(), "")));
    Finish();
    return;
  }
  id_ = *id;
  // The peer may have disconnected before the id was known.
  if (closed_) feed_.Unsubscribe(id_);
}

void RegistryWatchSession::Detach() {
  closed_ = true;
  if (id_ != 0) feed_.Unsubscribe(id_);
}

void RegistryWatchSession::Finish() {
  if (closed_.exchange(true)) return;
  Detach();
  stream_->Close();
}

void RegistryWatchSession::OnEvent(const FeedEvent& event) {
  if (closed_) return;
  if (event.type == FeedEvent::Type::kBookmark) {
    const bool first = options_.request.initial && !std::exchange(initial_done_, true);
    if (first ? options_.request.mark_initial_end : options_.request.bookmarks) {
      Write(encoder_.Bookmark(api::ResourceRegistryResource().gvk, absl::StrCat(event.revision),
                              first));
    }
    return;
  }
  const RegistrySelection& selection = options_.selection;
  const bool deleted = event.type == FeedEvent::Type::kDeleted;
  const bool is = !deleted && selection.Matches(*event.object);
  const bool was = event.previous != nullptr && selection.Matches(*event.previous);
  if (is) {
    Write(encoder_.Event(was ? "MODIFIED" : "ADDED", *event.object));
  } else if (was) {
    kube::Object last = deleted ? *event.object : *event.previous;
    last.Set({"metadata", "resourceVersion"}, absl::StrCat(event.revision));
    Write(encoder_.Event("DELETED", last));
  }
}

void RegistryWatchSession::Write(std::string line) {
  // The stream cuts off a watcher that cannot keep up; it has to connect again.
  if (!stream_->Write(std::move(line))) Detach();
}

}  // namespace search
