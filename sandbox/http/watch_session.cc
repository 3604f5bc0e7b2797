// How it works. A session subscribes to its table in the store and becomes the sink of the changes
// (OnChange, one call at a time). What a client sees depends on its selectors: an object that
// begins to match is ADDED, one that stops matching is DELETED with its last matching state. The
// first bookmark of the store marks the end of the initial objects; later ones are sent if the
// client asked for bookmarks. Text is encoded once for all sessions that want the same form.
//
// Under an interference lines pass through a HeldWatch first, which may hold them back, and which
// brings them to Write one at a time, on any thread.
//
// A session ends when the client disconnects, when its time is over (Finish), when a test cuts it
// (Abort), or when the client reads so slowly that the stream refuses another line. In each case it
// unsubscribes from the store, without waiting for a call of the sink that may be under way.

#include "sandbox/http/watch_session.h"

#include <utility>

#include "absl/strings/str_cat.h"

namespace sandbox {
namespace {

// Returns the last selected state of an object that leaves the selection, with the version at which
// it left.
kube::ObjectPtr LeavingState(const Change& change) {
  kube::Object last = *change.previous;
  last.Set({"metadata", "resourceVersion"}, absl::StrCat(change.version));
  return kube::Share(std::move(last));
}

}  // namespace

std::shared_ptr<const std::string> EncodedChange::Get(const kube::ObjectPtr& object,
                                                      const std::string& form, const Make& make) {
  // Guards the texts. They are made under it, so that many watchers of one change encode it once.
  absl::MutexLock lock(&mu_);
  if (object_ != object) {
    object_ = object;
    forms_.clear();
  }
  auto& slot = forms_[form];
  if (slot == nullptr) slot = std::make_shared<const std::string>(make());
  return slot;
}

WatchSession::WatchSession(Store& store, EncodedChange& encoded, ResourceInfoPtr info,
                           WatchOptions options)
    : store_(store),
      encoded_(encoded),
      info_(std::move(info)),
      options_(std::move(options)),
      encoder_(options_.form, options_.include,
               options_.form.kind == kube::server::AnswerForm::Kind::kTable ? info_->Printer()
                                                                            : nullptr) {}

void WatchSession::Interpose(HeldWatch::Parts parts) {
  const auto with_session = [weak = weak_from_this()](const auto& act) {
    if (const auto session = weak.lock()) act(*session);
  };
  held_ = std::make_shared<HeldWatch>(
      std::move(parts),
      HeldWatch::Actions{
          [=](const WatchLine& line) { with_session([&](WatchSession& s) { s.Write(line); }); },
          [=](const WatchLine& line) { with_session([&](WatchSession& s) { s.WriteHalf(line); }); },
          [=] {
            with_session([](WatchSession& s) {
              s.Fail(Expired("The resourceVersion for the provided watch is too old."));
            });
          },
          [=] { with_session([](WatchSession& s) { s.Abort(); }); }});
}

void WatchSession::Connect(std::shared_ptr<base::HttpStream> stream) {
  stream_ = std::move(stream);
  if (held_ != nullptr) held_->Attach();
  stream_->OnClosed([weak = weak_from_this()] {
    if (const auto session = weak.lock()) session->Detach();
  });
}

void WatchSession::Start(const absl::StatusOr<Store::WatchStart>& start) {
  // The store keeps the session until it is unwatched; the stream only refers to it weakly.
  const auto self = shared_from_this();
  if (!start.ok()) return Fail(start.status());
  const auto id = store_.Watch(*start, [self](const ChangePtr& change, int64_t version) {
    self->OnChange(change, version);
  });
  if (!id.ok()) return Fail(id.status());
  id_ = *id;
  // The peer may have disconnected before the id was known.
  if (closed_) store_.UnwatchSoon(id_);
}

void WatchSession::Fail(const absl::Status& status) {
  WriteLine(kube::server::ErrorFrame(status));
  Finish();
}

void WatchSession::Detach() {
  closed_ = true;
  if (held_ != nullptr) held_->Stop();
  if (id_ != 0) store_.UnwatchSoon(id_);
}

void WatchSession::Finish() {
  if (closed_.exchange(true)) return;
  Detach();
  stream_->Close();
}

void WatchSession::Abort() {
  closed_ = true;
  Detach();
  stream_->Abort();
}

void WatchSession::AwaitQuiet() {
  if (held_ != nullptr) held_->AwaitQuiet();
}

void WatchSession::OnChange(const ChangePtr& change, int64_t version) {
  if (closed_) return;
  if (change == nullptr) {
    const bool first = !std::exchange(initial_done_, true);
    if (first ? options_.mark_initial_end : options_.bookmarks) {
      Send({Event::Type::kBookmark, nullptr, version, first});
    }
    return;
  }
  const Selection& selection = options_.selection;
  const bool is = change->type != Event::Type::kDeleted && selection.Matches(*change->object);
  const bool was = change->previous != nullptr && selection.Matches(*change->previous);
  if (is) {
    Send({was ? Event::Type::kModified : Event::Type::kAdded, change->object, version});
  } else if (was && change->type == Event::Type::kDeleted) {
    Send({Event::Type::kDeleted, change->object, version});
  } else if (was) {
    Send({Event::Type::kDeleted, LeavingState(*change), version});
  }
}

void WatchSession::Send(WatchLine line) {
  held_ == nullptr ? Write(line) : held_->Push(std::move(line));
}

void WatchSession::Write(const WatchLine& line) {
  if (!closed_) WriteLine(TextOf(line));
}

void WatchSession::WriteHalf(const WatchLine& line) {
  if (closed_.exchange(true)) return;
  const std::string text = TextOf(line);
  Detach();
  // A cut at once would throw away what has not been given to the network yet.
  if (!stream_->Write(text.substr(0, text.size() / 2))) return;
  stream_->OnRoom([stream = stream_] { stream->Abort(); });
}

std::string WatchSession::TextOf(const WatchLine& line) {
  if (line.object == nullptr) {
    return encoder_.Bookmark(info_->resource.gvk, absl::StrCat(line.version),
                             line.ends_initial_events);
  }
  const std::string form = absl::StrCat(info_->resource.gvk.ApiVersion(), "|", encoder_.Key());
  const auto text =
      encoded_.Get(line.object, form, [&] { return encoder_.Text(*info_->ToServed(line.object)); });
  encoder_.Sent();
  return kube::server::WatchFrame(TypeText(line.type), *text);
}

void WatchSession::WriteLine(std::string line) {
  // The stream cuts off a watcher that cannot keep up; it has to connect again.
  if (!stream_->Write(std::move(line))) Detach();
}

}  // namespace sandbox
