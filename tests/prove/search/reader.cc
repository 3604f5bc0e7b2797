// A reader's thread asks, notes, and pauses until it is stopped. A connection that has ended is
// made again for the next question. Whoever watches goes on from the last version that he was
// given, and begins again only after a 410.

#include "tests/prove/search/reader.h"

#include <utility>

#include "absl/strings/escaping.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "base/clock.h"
#include "base/json.h"
#include "base/threads.h"

namespace prove {
namespace {

constexpr char kPath[] =
    "/apis/search.karmada.io/v1alpha1/proxying/karmada/proxy/api/v1/configmaps";
constexpr char kOrigin[] = "resource.karmada.io/cached-from-cluster";
constexpr absl::Duration kUsualPause = absl::Milliseconds(500);
constexpr int kOk = 200, kExpired = 410;

ReadObject ObjectIn(const json::Value& object) {
  return {std::string(object["metadata"]["annotations"][kOrigin].AsString()), KeyText(object),
          ComparableText(object)};
}

std::set<std::string> Names(const tests::RawResponse& answer, const std::string& header) {
  const auto found = answer.headers.find(header);
  if (found == answer.headers.end()) return {};
  std::set<std::string> names;
  for (absl::string_view name : absl::StrSplit(found->second, ',', absl::SkipWhitespace())) {
    names.emplace(absl::StripAsciiWhitespace(name));
  }
  return names;
}

}  // namespace

std::map<std::string, int64_t> ReadComposite(absl::string_view text) {
  std::map<std::string, int64_t> versions;
  std::string decoded;
  if (!absl::WebSafeBase64Unescape(text, &decoded)) return versions;
  const auto parsed = json::Parse(decoded);
  if (!parsed.ok()) return versions;
  for (const json::Member& member : parsed->members()) {
    int64_t version = 0;
    if (!absl::SimpleAtoi(member.value.AsString(), &version)) continue;
    versions[std::string(member.name())] = version;
  }
  return versions;
}

Reader::Reader(ReaderOptions options, History& history)
    : options_(std::move(options)),
      history_(history),
      pause_nanos_(absl::ToInt64Nanoseconds(kUsualPause)) {
  thread_ = base::StartThread("a reader", [this] { Run(); });
}

Reader::~Reader() {
  Stop();
  thread_.join();
}

void Reader::Stop() { stop_.request_stop(); }

void Reader::NoteSettled() { Add(Begin(Note::Kind::kSettled)); }

std::vector<Note> Reader::Notes() const {
  absl::MutexLock lock(&mu_);
  return notes_;
}

void Reader::Run() {
  while (!stop_.stop_requested()) {
    switch (options_.reading) {
      case Reading::kList:
        List("?", true);
        break;
      case Reading::kCachedList:
        List("?resourceVersion=0", false);
        break;
      case Reading::kPages:
        ReadPages();
        break;
      case Reading::kWatch:
        Watch("&timeoutSeconds=600");
        break;
      case Reading::kShortWatch:
        Watch("&timeoutSeconds=3");
        break;
      case Reading::kOneByOne:
        Watch("&timeoutSeconds=60");
        break;
      case Reading::kWatchList:
        Watch("&timeoutSeconds=17");
        break;
    }
    if (!std::exchange(goes_on_, false)) Pause();
  }
}

void Reader::Pause() {
  base::RealClock().SleepFor(absl::Nanoseconds(pause_nanos_.load()), stop_.get_token());
}

bool Reader::List(absl::string_view parameters, bool consistent) {
  const bool pages = options_.reading == Reading::kPages;
  Note note = Begin(pages ? Note::Kind::kPage : Note::Kind::kList);
  note.consistent = consistent;
  note.first = !pages || token_.empty();
  const tests::RawResponse answer = Ask(parameters);
  const auto list = json::Parse(answer.body);
  if (answer.code != kOk || !list.ok()) {
    token_.clear();
    NoteFailure(std::move(note), answer.code == kOk ? 0 : answer.code);
    return false;
  }
  const json::Value& metadata = (*list)["metadata"];
  from_ = std::string(metadata["resourceVersion"].AsString());
  token_ = std::string(metadata["continue"].AsString());
  note.versions = ReadComposite(from_);
  note.last = token_.empty();
  note.missing = Names(answer, "x-karmada-missing-clusters");
  note.stale = Names(answer, "x-karmada-stale-clusters");
  for (const json::Value& item : (*list)["items"].items()) note.objects.push_back(ObjectIn(item));
  Add(std::move(note));
  return true;
}

void Reader::ReadPages() {
  token_.clear();
  while (
      List(absl::StrCat("?limit=3", token_.empty() ? "" : "&continue=", token_), token_.empty())) {
    if (token_.empty() || stop_.stop_requested()) return;
    Pause();
  }
}

void Reader::Watch(absl::string_view parameters) {
  const bool begins = from_.empty();
  watched_from_ = from_;
  const bool with_list = options_.reading != Reading::kWatchList;
  if (begins && with_list && !List("?", true)) return;
  Note note = Begin(Note::Kind::kWatchBegins);
  note.first = begins && !with_list;
  note.versions = ReadComposite(from_);
  const std::string initial = note.first ? "&sendInitialEvents=true" : "";
  const std::string version = from_.empty() ? "" : absl::StrCat("&resourceVersion=", from_);
  const std::string match = note.first ? "&resourceVersionMatch=NotOlderThan" : "";
  tests::RawResponse head;
  if (Send(absl::StrCat("?watch=true&allowWatchBookmarks=true", initial, match, version,
                        parameters))) {
    head = connection_->ReadHead();
  }
  if (head.code != kOk) {
    NoteFailure(std::move(note), head.code);
    connection_.reset();
    return;
  }
  Add(std::move(note));
  TakeStream();
  connection_.reset();
}

void Reader::TakeStream() {
  std::string text;
  for (std::string chunk = connection_->ReadChunk(); !chunk.empty();
       chunk = connection_->ReadChunk()) {
    text += chunk;
    for (size_t end = text.find('\n'); end != std::string::npos; end = text.find('\n')) {
      const std::string line = text.substr(0, end);
      text.erase(0, end + 1);
      if (!TakeLine(line)) return;
    }
  }
}

bool Reader::TakeLine(absl::string_view line) {
  const auto event = json::Parse(line);
  if (!event.ok()) return false;
  const json::Value& object = (*event)["object"];
  const std::string type((*event)["type"].AsString());
  Note note = Begin(type == "BOOKMARK" ? Note::Kind::kBookmark : Note::Kind::kEvent);
  if (type == "ERROR") {
    NoteFailure(std::move(note), static_cast<int>(object["code"].AsInt()));
    return false;
  }
  const json::Value& metadata = object["metadata"];
  from_ = std::string(metadata["resourceVersion"].AsString());
  note.versions = ReadComposite(from_);
  note.type = type;
  note.ends_initial_events =
      metadata["annotations"]["k8s.io/initial-events-end"].AsString() == "true";
  const bool is_event = note.kind == Note::Kind::kEvent;
  if (is_event) note.objects.push_back(ObjectIn(object));
  Add(std::move(note));
  // Whoever begins again after each event would fall behind if he paused. From some versions an
  // event comes again: those that a list has revealed together.
  goes_on_ = options_.reading == Reading::kOneByOne && is_event && from_ != watched_from_;
  return !goes_on_;
}

bool Reader::Send(absl::string_view parameters) {
  const std::string request =
      absl::StrCat("GET ", kPath, parameters, " HTTP/1.1\r\nHost: localhost\r\n\r\n");
  if (connection_ == nullptr) {
    connection_ = std::make_unique<tests::TlsRawClient>(options_.port, *options_.credentials);
    connection_->SendAtOnce();
  }
  return connection_->secure() && connection_->Send(request);
}

tests::RawResponse Reader::Ask(absl::string_view parameters) {
  tests::RawResponse answer;
  if (Send(parameters)) answer = connection_->ReadResponse();
  const auto closes = answer.headers.find("connection");
  if (answer.code == 0 || (closes != answer.headers.end() && closes->second == "close")) {
    connection_.reset();
  }
  return answer;
}

Note Reader::Begin(Note::Kind kind) {
  Note note{.kind = kind};
  note.began = history_.Moment();
  note.process = options_.process();
  return note;
}

void Reader::NoteFailure(Note note, int code) {
  note.kind = code == 0          ? Note::Kind::kLost
              : code == kExpired ? Note::Kind::kGone
                                 : Note::Kind::kRefused;
  note.code = code;
  if (note.kind == Note::Kind::kGone) from_.clear();
  Add(std::move(note));
}

void Reader::Add(Note note) {
  note.ended = history_.Moment();
  note.seconds = absl::ToDoubleSeconds(base::RealClock().SteadyNow() - began_);
  absl::MutexLock lock(&mu_);
  notes_.push_back(std::move(note));
}

}  // namespace prove
