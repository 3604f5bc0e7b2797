// Somebody who reads what karmada-search has of all members, all the time, over a connection of his
// own, and notes what he reads. He uses nothing of the clients that karmada-search is built with.
#ifndef TESTS_PROVE_SEARCH_READER_H_
#define TESTS_PROVE_SEARCH_READER_H_

#include <atomic>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/strings/string_view.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/time.h"
#include "base/clock.h"
#include "base/stop_token.h"
#include "base/tls.h"
#include "tests/base/raw_client.h"
#include "tests/prove/search/history.h"
#include "tests/prove/search/note.h"

namespace prove {

enum class Reading {
  kList,        // The present state, again and again.
  kCachedList,  // Whatever is there (resourceVersion=0).
  kPages,       // A page of two at a time.
  kWatch,       // A list, a watch from there, and watches that go on.
  kShortWatch,  // The same, with watches that end after a few seconds.
  kOneByOne,    // The same, with a new watch after each event.
  kWatchList,   // A watch that begins with what there is (sendInitialEvents), and goes on.
};

struct ReaderOptions {
  std::string name;
  Reading reading = Reading::kList;
  int port = 0;
  std::shared_ptr<const tls::ClientCredentials> credentials;
  // The number of the karmada-search that runs now.
  std::function<int()> process;
};

class Reader {
 public:
  // REQUIRES: `history` outlives the reader.
  Reader(ReaderOptions options, History& history);
  // REQUIRES: karmada-search has ended, so that nothing is waited for.
  ~Reader();
  Reader(const Reader&) = delete;

  const std::string& name() const { return options_.name; }
  // How long it waits before it asks again.
  void SetPause(absl::Duration pause) { pause_nanos_ = absl::ToInt64Nanoseconds(pause); }
  void NoteSettled();
  // Asks nothing more.
  void Stop();
  std::vector<Note> Notes() const;

 private:
  void Run();
  // Return whether there was an answer of which the reader goes on at once.
  bool List(absl::string_view parameters, bool consistent);
  void ReadPages();
  void Watch(absl::string_view parameters);
  void TakeStream();
  // Returns false when the watch is over.
  bool TakeLine(absl::string_view line);

  // Sends a GET, with a new connection if the last one has ended.
  bool Send(absl::string_view parameters);
  tests::RawResponse Ask(absl::string_view parameters);
  Note Begin(Note::Kind kind);
  // Notes what has come instead of an answer.
  void NoteFailure(Note note, int code);
  void Add(Note note);
  void Pause();

  const ReaderOptions options_;
  History& history_;
  std::unique_ptr<tests::TlsRawClient> connection_;
  const base::SteadyTime began_ = base::RealClock().SteadyNow();
  std::string from_;  // The composite version from which a watch goes on; empty: begin again.
  std::string watched_from_;  // Where the present watch has begun.
  std::string token_;
  bool goes_on_ = false;  // Without a pause.
  std::atomic<int64_t> pause_nanos_;
  base::StopSource stop_;
  mutable absl::Mutex mu_;
  std::vector<Note> notes_ ABSL_GUARDED_BY(mu_);
  std::thread thread_;
};

// Reads a composite version; empty for what is none.
std::map<std::string, int64_t> ReadComposite(absl::string_view text);

}  // namespace prove

#endif  // TESTS_PROVE_SEARCH_READER_H_
