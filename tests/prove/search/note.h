// What a reader of karmada-search notes: one entry for each answer, or event of a watch.
#ifndef TESTS_PROVE_SEARCH_NOTE_H_
#define TESTS_PROVE_SEARCH_NOTE_H_

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <vector>

namespace prove {

// An object as it was read.
struct ReadObject {
  std::string member;
  std::string key;
  std::string text;  // ComparableText.
};

struct Note {
  enum class Kind {
    kList,         // A whole list.
    kPage,         // One page.
    kWatchBegins,  // A watch was accepted: from `versions`, or with initial events if `first`.
    kEvent,        // ADDED, MODIFIED or DELETED.
    kBookmark,
    kGone,     // 410: what the reader had before does not count any more.
    kRefused,  // Another answer than 200 or 410.
    kLost,     // The connection ended before the answer was whole, or the watch.
    kSettled,  // The harness: nothing has changed for long, and nothing is disturbed any more.
  } kind = Kind::kList;
  // Moments of the History: before the request was sent, and after the answer was read.
  int64_t began = 0, ended = 0;
  double seconds = 0;  // Of simulated time, for people.
  int process = 0;     // The number of the karmada-search that was running when it began.
  // The composite version of the list, or of where a client that has this event may go on.
  std::map<std::string, int64_t> versions;
  std::vector<ReadObject> objects;
  std::set<std::string> missing, stale;  // Members that the answer says so of.
  bool consistent = false;               // Lists: whether the present state was asked for.
  bool first = false;                    // Pages: the first one. Watches: with initial events.
  bool last = false;                     // Pages: nothing follows.
  bool ends_initial_events = false;      // Bookmarks.
  std::string type;                      // Of the event.
  int code = 0;                          // kRefused.
};

// One line, for people who look for the reason of a violation.
std::string ToLine(const Note& note);

}  // namespace prove

#endif  // TESTS_PROVE_SEARCH_NOTE_H_
