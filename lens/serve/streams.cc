// A stream is written to by whoever has news, outside of the lock, and forgotten when its peer has
// gone or does not read; what it has not taken by then is lost, and the page reads again.

#include "lens/serve/streams.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/clock.h"
#include "lens/serve/bounds.h"
#include "lens/serve/shown.h"

namespace lens::serve {
namespace {

std::string Event(absl::string_view event, const json::Value& data) {
  return absl::StrCat("event: ", event, "\ndata: ", json::Write(data), "\n\n");
}

}  // namespace

base::HttpResponse Streams::Head() {
  base::HttpResponse head = Answer(200, "text/event-stream", "");
  head.headers.emplace_back("Cache-Control", "no-store");
  return head;
}

absl::StatusOr<Streams::StreamPtr> Streams::Open(const ViewerPtr& viewer,
                                                 base::HttpResponder& responder) {
  StreamPtr stream;
  {
    absl::MutexLock lock(&mu_);
    const auto own = std::count_if(followers_.begin(), followers_.end(),
                                   [&](const Follower& one) { return one.viewer == viewer; });
    const bool is_local = viewer->owner().empty();
    if (followers_.size() >= kMostStreams ||
        (!is_local && static_cast<size_t>(own) >= kMostStreamsOfViewer)) {
      return absl::ResourceExhaustedError(
          absl::StrCat("too many pages follow live (", followers_.size(), "): close one"));
    }
    stream = responder.StartStream(Head());
    followers_.push_back({viewer, stream, base::RealClock().SteadyNow()});
  }
  stream->OnClosed([this, raw = stream.get()] { Forget(raw); });
  stream->Write(": live\n\n");
  return stream;
}

void Streams::Forget(const base::HttpStream* stream) {
  StreamPtr last;  // Destroyed without the lock.
  absl::MutexLock lock(&mu_);
  const auto found = std::find_if(followers_.begin(), followers_.end(),
                                  [&](const Follower& one) { return one.stream.get() == stream; });
  if (found == followers_.end()) return;
  last = std::move(found->stream);
  followers_.erase(found);
}

std::vector<Streams::StreamPtr> Streams::Of(const Viewer& viewer) const {
  absl::MutexLock lock(&mu_);
  std::vector<StreamPtr> streams;
  for (const Follower& one : followers_) {
    if (one.viewer.get() == &viewer) streams.push_back(one.stream);
  }
  return streams;
}

void Streams::Tell(const StreamPtr& stream, absl::string_view event, const json::Value& data) {
  Write({stream}, Event(event, data));
}

void Streams::Tell(const Viewer& viewer, absl::string_view event, const json::Value& data) {
  const std::string text = Event(event, data);
  Write(Of(viewer), text);
}

void Streams::Write(const std::vector<StreamPtr>& streams, const std::string& text) {
  for (const auto& stream : streams) {
    if (!stream->Write(text)) Forget(stream.get());
  }
}

void Streams::End(const Viewer& viewer, absl::string_view event, const json::Value& data) {
  const std::string text = Event(event, data);
  for (const auto& stream : Of(viewer)) {
    stream->Write(text);
    stream->Close();
  }
}

void Streams::EndOlderThan(absl::Duration age, absl::string_view event) {
  const base::SteadyTime now = base::RealClock().SteadyNow();
  std::vector<StreamPtr> old;
  {
    absl::MutexLock lock(&mu_);
    for (const Follower& one : followers_) {
      if (now - one.since >= age) old.push_back(one.stream);
    }
  }
  for (const auto& stream : old) {
    stream->Write(Event(event, json::Value::Object()));
    stream->Close();
  }
}

void Streams::EndAll() {
  for (const ViewerPtr& viewer : Viewers()) {
    for (const auto& stream : Of(*viewer)) stream->Close();
  }
}

void Streams::Beat() {
  for (const ViewerPtr& viewer : Viewers()) Write(Of(*viewer), ": still here\n\n");
}

std::vector<ViewerPtr> Streams::Viewers() const {
  absl::MutexLock lock(&mu_);
  std::vector<ViewerPtr> viewers;
  for (const Follower& one : followers_) {
    if (std::find(viewers.begin(), viewers.end(), one.viewer) == viewers.end()) {
      viewers.push_back(one.viewer);
    }
  }
  return viewers;
}

size_t Streams::size() const {
  absl::MutexLock lock(&mu_);
  return followers_.size();
}

}  // namespace lens::serve
