// What the objects of one resource have been in each member, from the first moment on: what every
// answer of karmada-search is judged by.
//
// A member has *epochs*: one more begins when it is restored from a backup, after which objects are
// what they were before. An object's states are counted through all epochs, in the order in which
// they were.
#ifndef TESTS_PROVE_SEARCH_HISTORY_H_
#define TESTS_PROVE_SEARCH_HISTORY_H_

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/synchronization/mutex.h"
#include "base/json.h"
#include "kube/meta/object.h"

namespace prove {

// What of an object can be compared: without its version, and what the server or karmada-search
// adds on the way.
std::string ComparableText(json::Value object);
// "default/web".
std::string KeyText(const json::Value& object);

// One thing that an object was.
struct ObjectState {
  int64_t version = 0;
  std::string text;  // ComparableText; empty: it is not there.
  int epoch = 0;
  int64_t moment = 0;  // At which it became so.
  std::string uid;

  bool there() const { return !text.empty(); }
};

// Thread-safe. Members are named, moments are numbers that grow.
class History {
 public:
  History() = default;
  History(const History&) = delete;

  // Returns the number of this moment.
  int64_t Moment();

  // The object has become this; nullptr: it was deleted by that version.
  void Add(const std::string& member, const std::string& key, int64_t version,
           const json::Value* object);
  // What is now in the member is not what was there a moment ago.
  void BeginEpoch(const std::string& member, int64_t version,
                  const std::vector<kube::ObjectPtr>& contents);
  // Whoever made the changes up to this version has been told that they are made.
  void Acknowledge(const std::string& member, int64_t version);

  using States = std::vector<ObjectState>;
  std::vector<std::string> Members() const;
  // REQUIRES: there is such a state.
  ObjectState State(const std::string& member, const std::string& key, size_t number) const;
  // By key, the number of the state at that version, also of an object that was deleted by then;
  // without those that have never been before.
  std::map<std::string, size_t> At(const std::string& member, int epoch, int64_t version) const;
  // The same at a moment.
  std::map<std::string, size_t> AtMoment(const std::string& member, int64_t moment) const;
  // The first state with that text that is not before `from`.
  std::optional<size_t> Find(const std::string& member, const std::string& key,
                             const std::string& text, size_t from) const;
  // The first deletion after that state.
  std::optional<size_t> DeletionAfter(const std::string& member, const std::string& key,
                                      size_t number) const;
  // The epoch of a member at a moment.
  int EpochAt(const std::string& member, int64_t moment) const;
  // The version that was acknowledged before that moment, in the epoch of then; 0 for none.
  int64_t AcknowledgedAt(const std::string& member, int64_t moment) const;
  // All states, one a line, for people.
  std::string ToText() const;

 private:
  struct Mark {
    int64_t moment = 0;
    int epoch = 0;
    int64_t version = 0;
  };
  struct Member {
    int epoch = 0;
    std::map<std::string, States> states;
    std::vector<Mark> acknowledged;
    std::vector<int64_t> epochs;  // The moments at which they began; the first one is 0.
  };
  Member& Of(const std::string& member) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  const Member* FindMember(const std::string& member) const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);

  mutable absl::Mutex mu_;
  int64_t moment_ ABSL_GUARDED_BY(mu_) = 0;
  std::map<std::string, Member> members_ ABSL_GUARDED_BY(mu_);
};

}  // namespace prove

#endif  // TESTS_PROVE_SEARCH_HISTORY_H_
