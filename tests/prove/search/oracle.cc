// A reader's notes are gone through in their order. Of each member is kept which version was read
// last, and of each object which of its states (by their numbers in the history) the reader has.
// Pages are put together to a list, which is judged as one.

#include "tests/prove/search/oracle.h"

#include <algorithm>
#include <cstddef>
#include <optional>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"

namespace prove {
namespace {

using Kind = Note::Kind;
using Versions = std::map<std::string, int64_t>;

std::string Text(const Versions& versions) {
  return absl::StrJoin(versions, ",", absl::PairFormatter("="));
}

class Judgement {
 public:
  Judgement(const std::string& reader, const History& history)
      : reader_(reader), history_(history) {}

  void Take(const Note& note) {
    FindLoss(note);
    switch (note.kind) {
      case Kind::kList:
        TakeList(note);
        break;
      case Kind::kPage:
        TakePage(note);
        break;
      case Kind::kWatchBegins:
        if (note.first) Forget();
        watching_ = true;
        break;
      case Kind::kEvent:
        TakeEvent(note);
        break;
      case Kind::kBookmark:
        TakeVersions(note, "the bookmark");
        if (!note.ends_initial_events || !note.versions.empty()) FindMissing(note);
        break;
      case Kind::kGone:
        Forget();
        break;
      case Kind::kRefused:
      case Kind::kLost:
        break;
      case Kind::kSettled:
        TakeEnd(note.ended);
        break;
    }
    if (note.kind != Kind::kSettled) last_ = note;
  }

  std::vector<std::string> Found() { return std::move(found_); }

 private:
  // Which state of an object the reader has.
  struct Known {
    size_t number = 0;
    bool there = true;
  };

  template <class... Parts>
  void Say(const Parts&... parts) {
    constexpr size_t kMost = 20;
    if (found_.size() < kMost) found_.push_back(absl::StrCat(reader_, ": ", parts...));
  }

  // A connection ends without an answer only because karmada-search has ended: the process that
  // answers next is another one.
  void FindLoss(const Note& note) {
    if (note.kind == Kind::kSettled || note.kind == Kind::kRefused) return;
    if (note.kind == Kind::kLost) {
      lost_ |= answered_ == note.process;
      return;
    }
    if (lost_ && answered_ == note.process) Say("an answer was lost, and the process went on");
    lost_ = false;
    answered_ = note.process;
  }

  void Forget() {
    known_.clear();
    versions_.clear();
    pages_.reset();
    list_.reset();
    watching_ = false;
  }

  // ---- Lists ------------------------------------------------------------------------------------

  void TakePage(const Note& note) {
    if (note.first) pages_.reset();
    if (!pages_.has_value()) {
      if (!note.first) return;
      pages_ = note;
    } else {
      if (note.versions != pages_->versions) {
        Say("a page is of ", Text(note.versions), ", and the first one of ",
            Text(pages_->versions));
      }
      pages_->objects.insert(pages_->objects.end(), note.objects.begin(), note.objects.end());
      pages_->ended = note.ended;
    }
    if (!note.last) return;
    const Note whole = *std::exchange(pages_, std::nullopt);
    TakeList(whole);
  }

  void TakeList(const Note& note) {
    std::map<std::string, std::map<std::string, Known>> read;
    for (const ReadObject& object : note.objects) {
      if (!note.versions.contains(object.member)) {
        Say("a list of ", Text(note.versions), " has an object of ", object.member);
      }
      const auto number = history_.Find(object.member, object.key, object.text, 0);
      if (!number.has_value()) {
        Say(object.member, " ", object.key, " has never been ", object.text);
      }
      if (!read[object.member].emplace(object.key, Known{number.value_or(0)}).second) {
        Say(object.member, " ", object.key, " is twice in a list");
      }
    }
    for (const auto& [member, version] : note.versions) {
      CompareWith(note, member, version, read[member]);
    }
    for (const std::string& member : history_.Members()) {
      if (!note.versions.contains(member) && !note.missing.contains(member)) {
        Say("a list does not have ", member, ", and does not say so");
      }
    }
    LookBack(note);
    if (note.consistent) LookForOld(note);
    known_ = std::move(read);
    versions_ = note.versions;
    list_ = note;
  }

  // What the list shows of a member is what was there at its version.
  void CompareWith(const Note& note, const std::string& member, int64_t version,
                   std::map<std::string, Known>& read) {
    std::string difference;
    for (int epoch = history_.EpochAt(member, note.ended); epoch >= 0; --epoch) {
      auto there = history_.At(member, epoch, version);
      std::string found;
      for (const auto& [key, number] : there) {
        const ObjectState state = history_.State(member, key, number);
        const auto known = read.find(key);
        if (state.there() && known == read.end()) {
          found = absl::StrCat(key, " is not there");
        } else if (!state.there() && known != read.end()) {
          found = absl::StrCat(key, " is there, and was deleted");
        } else if (known != read.end() &&
                   history_.State(member, key, known->second.number).text != state.text) {
          found = absl::StrCat(key, " is not as of version ", state.version);
        }
      }
      for (const auto& [key, known] : read) {
        if (!there.contains(key)) found = absl::StrCat(key, " is there, and was not yet");
      }
      if (found.empty()) {
        for (auto& [key, known] : read) known.number = there.at(key);
        return;
      }
      if (difference.empty()) difference = found;
    }
    Say("a list of version ", version, " of ", member, ": ", difference);
  }

  void LookBack(const Note& note) {
    if (!list_.has_value() || list_->process != note.process) return;
    for (const auto& [member, version] : list_->versions) {
      const auto now = note.versions.find(member);
      if (now == note.versions.end() || now->second >= version) continue;
      if (history_.EpochAt(member, list_->began) != history_.EpochAt(member, note.ended)) continue;
      Say("a list is of version ", now->second, " of ", member, ", and the one before of ",
          version);
    }
  }

  void LookForOld(const Note& note) {
    for (const auto& [member, version] : note.versions) {
      if (note.missing.contains(member) || note.stale.contains(member)) continue;
      const int64_t acknowledged = history_.AcknowledgedAt(member, note.began);
      if (version < acknowledged) {
        Say("a list is of version ", version, " of ", member, ", which had ", acknowledged,
            " when it was asked for");
      }
    }
  }

  // ---- Watches ----------------------------------------------------------------------------------

  void TakeVersions(const Note& note, absl::string_view what) {
    for (const auto& [member, version] : note.versions) {
      const auto last = versions_.find(member);
      if (last != versions_.end() && version < last->second) {
        Say(what, " is of version ", version, " of ", member, " after ", last->second);
      }
    }
    versions_ = note.versions;
  }

  void TakeEvent(const Note& note) {
    for (const ReadObject& object : note.objects) {
      const std::string what =
          absl::StrCat(note.type, " ", object.member, " ", object.key, " at ", Text(note.versions));
      TakeVersions(note, what);
      auto& known = known_[object.member];
      const auto before = known.find(object.key);
      if (note.type == "DELETED") {
        TakeDeletion(object, what, before == known.end() ? nullptr : &before->second);
        continue;
      }
      const size_t from = before == known.end() ? 0 : before->second.number;
      const auto number = history_.Find(object.member, object.key, object.text, from);
      if (!number.has_value()) {
        const bool was = history_.Find(object.member, object.key, object.text, 0).has_value();
        Say(what, was ? " goes back to " : " has never been ", object.text);
        continue;
      }
      const bool was_there = before != known.end() && before->second.there;
      if (note.type == "MODIFIED" && !was_there) Say(what, ", which was not there");
      if (was_there) {
        const auto deletion = history_.DeletionAfter(object.member, object.key, from);
        if (deletion.has_value() && *deletion < *number) Say(what, " hides a deletion");
      }
      known[object.key] = {*number, true};
    }
  }

  void TakeDeletion(const ReadObject& object, const std::string& what, const Known* before) {
    const auto last = history_.Find(object.member, object.key, object.text, 0);
    if (!last.has_value()) Say(what, " has never been ", object.text);
    if (before != nullptr && !before->there) return;  // Events may come twice.
    const size_t from = before != nullptr ? before->number : last.value_or(0);
    const auto deletion = history_.DeletionAfter(object.member, object.key, from);
    if (!deletion.has_value()) Say(what, " was not deleted");
    known_[object.member][object.key] = {deletion.value_or(from), false};
  }

  // Nothing of what was up to the versions of a bookmark is missing.
  void FindMissing(const Note& note) {
    for (const auto& [member, version] : note.versions) {
      std::string missing;
      for (int epoch = history_.EpochAt(member, note.ended); epoch >= 0; --epoch) {
        const std::string found = FirstMissing(member, history_.At(member, epoch, version));
        if (found.empty()) {
          missing.clear();
          break;
        }
        if (missing.empty()) missing = found;
      }
      if (!missing.empty()) Say("a bookmark at ", Text(note.versions), ": ", missing);
    }
  }

  // An object of which the reader has not heard what it became.
  std::string FirstMissing(const std::string& member, const std::map<std::string, size_t>& due) {
    auto& known = known_[member];
    for (const auto& [key, number] : due) {
      const ObjectState state = history_.State(member, key, number);
      const auto found = known.find(key);
      const bool there = found != known.end() && found->second.there;
      if (!state.there() && !there) continue;
      if (there && found->second.number >= number) continue;
      if (there && history_.State(member, key, found->second.number).text == state.text) continue;
      if (found != known.end() && !there && found->second.number > number) continue;
      return absl::StrCat(member, " ", key, " of version ", state.version,
                          state.there() ? " was not shown" : " was not shown as deleted");
    }
    return "";
  }

  // ---- The end ----------------------------------------------------------------------------------

  void TakeEnd(int64_t moment) {
    if (last_.kind == Kind::kRefused || last_.kind == Kind::kLost || last_.kind == Kind::kGone) {
      Say("has no answer in the end, but ", last_.code);
      return;
    }
    for (const std::string& member : history_.Members()) {
      const auto now = history_.AtMoment(member, moment);
      const std::string missing = FirstMissing(member, now);
      if (!missing.empty()) Say("in the end: ", missing);
      for (const auto& [key, known] : known_[member]) {
        if (known.there && !now.contains(key)) Say("in the end: ", member, " has no ", key);
      }
    }
    if (watching_ || !list_.has_value()) return;
    for (const auto& names : {list_->missing, list_->stale}) {
      if (!names.empty()) Say("in the end a list is not sure of ", absl::StrJoin(names, ", "));
    }
  }

  const std::string reader_;
  const History& history_;
  std::map<std::string, std::map<std::string, Known>> known_;  // By member and key.
  Versions versions_;
  std::optional<Note> pages_, list_;
  bool watching_ = false;
  int answered_ = -1;  // The process that has answered last.
  bool lost_ = false;  // It has left a later question without an answer.
  Note last_{.kind = Kind::kRefused};
  std::vector<std::string> found_;
};

}  // namespace

std::vector<std::string> Judge(const std::string& reader, const History& history,
                               const std::vector<Note>& notes) {
  Judgement judgement(reader, history);
  for (const Note& note : notes) judgement.Take(note);
  return judgement.Found();
}

}  // namespace prove
