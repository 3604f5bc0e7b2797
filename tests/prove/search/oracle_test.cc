// What the oracle says of answers, right and wrong ones.
#include "tests/prove/search/oracle.h"

#include <catch2/catch.hpp>

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "base/json.h"

namespace prove {
namespace {

using Kind = Note::Kind;

json::Value Object(const std::string& name, int data, const std::string& uid) {
  return json::Value::Object(
      {{"metadata", json::Value::Object({{"namespace", "one"}, {"name", name}, {"uid", uid}})},
       {"data", data}});
}

// member1 has had a (versions 11, 12, gone at 15) and b (from 13 on), member2 c (from 21 on).
struct Fixture {
  History history;
  std::vector<Note> notes;

  Fixture() {
    Put("member1", 11, "a", 1);
    Put("member1", 12, "a", 2);
    Put("member1", 13, "b", 1);
    Put("member2", 21, "c", 1);
  }

  void Put(const std::string& member, int64_t version, const std::string& name, int data) {
    const json::Value object = Object(name, data, name);
    history.Add(member, "one/" + name, version, &object);
    history.Acknowledge(member, version);
  }
  void Delete(const std::string& member, int64_t version, const std::string& name) {
    history.Add(member, "one/" + name, version, nullptr);
    history.Acknowledge(member, version);
  }
  static ReadObject Read(const std::string& member, const std::string& name, int data) {
    return {member, "one/" + name, ComparableText(Object(name, data, name))};
  }

  // Notes this, as read now.
  Note& Add(Kind kind, std::map<std::string, int64_t> versions,
            std::vector<ReadObject> objects = {}) {
    Note note{.kind = kind, .versions = std::move(versions), .objects = std::move(objects)};
    note.began = history.Moment();
    note.ended = history.Moment();
    notes.push_back(std::move(note));
    return notes.back();
  }
  Note& Event(const std::string& type, std::map<std::string, int64_t> versions, ReadObject object) {
    Note& note = Add(Kind::kEvent, std::move(versions), {std::move(object)});
    note.type = type;
    return note;
  }
  Note& Page(std::map<std::string, int64_t> versions, std::vector<ReadObject> objects, bool first,
             bool last) {
    Note& note = Add(Kind::kPage, std::move(versions), std::move(objects));
    note.first = first;
    note.last = last;
    return note;
  }
  // A right list of what there is at first, with which watches begin.
  void List() {
    Add(Kind::kList, {{"member1", 13}, {"member2", 21}},
        {Read("member1", "a", 2), Read("member1", "b", 1), Read("member2", "c", 1)});
  }

  std::string Found() const { return absl::StrJoin(Judge("r", history, notes), "\n"); }
};

TEST_CASE_METHOD(Fixture, "a reader who reads what there is has nothing to complain of") {
  Add(Kind::kRefused, {}).code = 503;
  Add(Kind::kList, {{"member1", 12}, {"member2", 21}},
      {Read("member1", "a", 2), Read("member2", "c", 1)});
  List();
  Page({{"member1", 13}, {"member2", 21}}, {Read("member1", "a", 2), Read("member1", "b", 1)}, true,
       false);
  Page({{"member1", 13}, {"member2", 21}}, {Read("member2", "c", 1)}, false, true);
  Add(Kind::kWatchBegins, {{"member1", 13}, {"member2", 21}});
  Put("member1", 14, "b", 2);
  Delete("member1", 15, "a");
  Event("MODIFIED", {{"member1", 14}, {"member2", 21}}, Read("member1", "b", 2));
  Event("DELETED", {{"member1", 15}, {"member2", 21}}, Read("member1", "a", 2));
  Add(Kind::kBookmark, {{"member1", 15}, {"member2", 21}});
  Add(Kind::kSettled, {});
  CHECK(Found().empty());
}

TEST_CASE_METHOD(Fixture, "an object that has never been so is found") {
  Add(Kind::kList, {{"member1", 11}, {"member2", 21}},
      {Read("member1", "a", 7), Read("member2", "c", 1)});
  CHECK_THAT(Found(), Catch::Contains("member1 one/a has never been"));
}

TEST_CASE_METHOD(Fixture, "an object of another member is found") {
  Add(Kind::kList, {{"member1", 11}, {"member2", 21}},
      {Read("member1", "a", 1), Read("member2", "c", 1), Read("member2", "a", 1)});
  CHECK_THAT(Found(), Catch::Contains("member2 one/a has never been"));
}

TEST_CASE_METHOD(Fixture, "a list that lacks an object of its version is found") {
  Add(Kind::kList, {{"member1", 13}, {"member2", 21}},
      {Read("member1", "a", 2), Read("member2", "c", 1)});
  CHECK_THAT(Found(), Catch::Contains("a list of version 13 of member1: one/b is not there"));
}

TEST_CASE_METHOD(Fixture,
                 "a list that shows an older or a younger object than its version is found") {
  const auto [version, shown] =
      GENERATE(std::pair<int64_t, int>(12, 1), std::pair<int64_t, int>(11, 2));
  Add(Kind::kList, {{"member1", version}, {"member2", 21}},
      {Read("member1", "a", shown), Read("member2", "c", 1)});
  CHECK_THAT(Found(), Catch::Contains("one/a is not as of version"));
}

TEST_CASE_METHOD(Fixture, "a list that shows what was deleted is found") {
  Delete("member1", 15, "a");
  Add(Kind::kList, {{"member1", 15}, {"member2", 21}},
      {Read("member1", "a", 2), Read("member1", "b", 1), Read("member2", "c", 1)});
  CHECK_THAT(Found(), Catch::Contains("one/a is there, and was deleted"));
}

TEST_CASE_METHOD(Fixture, "a member that is left out without a word is found") {
  Note& list = Add(Kind::kList, {{"member2", 21}}, {Read("member2", "c", 1)});
  SECTION("without a word") {
    CHECK_THAT(Found(), Catch::Contains("a list does not have member1, and does not say so"));
  }
  SECTION("with one") {
    list.missing = {"member1"};
    CHECK(Found().empty());
  }
}

TEST_CASE_METHOD(Fixture, "an object that is twice in a list is found") {
  Page({{"member1", 13}, {"member2", 21}}, {Read("member1", "a", 2), Read("member1", "b", 1)}, true,
       false);
  Page({{"member1", 13}, {"member2", 21}}, {Read("member1", "b", 1), Read("member2", "c", 1)},
       false, true);
  CHECK_THAT(Found(), Catch::Contains("member1 one/b is twice in a list"));
}

TEST_CASE_METHOD(Fixture, "pages of two versions are found") {
  Page({{"member1", 12}, {"member2", 21}}, {Read("member1", "a", 2)}, true, false);
  Page({{"member1", 13}, {"member2", 21}}, {Read("member2", "c", 1)}, false, true);
  CHECK_THAT(Found(), Catch::Contains("a page is of member1=13,member2=21, and the first one of"));
}

TEST_CASE_METHOD(Fixture, "a list that is older than the one before is found") {
  List();
  Note* list = nullptr;
  const auto read_old = [&] {
    list = &Add(Kind::kList, {{"member1", 12}, {"member2", 21}},
                {Read("member1", "a", 2), Read("member2", "c", 1)});
  };
  SECTION("of the same process") {
    read_old();
    CHECK_THAT(Found(),
               Catch::Contains("a list is of version 12 of member1, and the one before of 13"));
  }
  SECTION("but not of the next process") {
    read_old();
    list->process = 1;
    CHECK(Found().empty());
  }
  SECTION("but not after a 410") {
    Add(Kind::kGone, {});
    read_old();
    CHECK(Found().empty());
  }
}

TEST_CASE_METHOD(Fixture, "a present list without what was acknowledged is found") {
  Note& list = Add(Kind::kList, {{"member1", 12}, {"member2", 21}},
                   {Read("member1", "a", 2), Read("member2", "c", 1)});
  list.consistent = true;
  SECTION("without a word") {
    CHECK_THAT(Found(), Catch::Contains("is of version 12 of member1, which had 13"));
  }
  SECTION("with one") {
    list.stale = {"member1"};
    CHECK(Found().empty());
  }
}

TEST_CASE_METHOD(Fixture, "an answer that is lost although the process goes on is found") {
  Add(Kind::kLost, {});  // It does not listen yet.
  List();
  Add(Kind::kLost, {});
  List();
  SECTION("of the same process") {
    CHECK_THAT(Found(), Catch::Contains("an answer was lost, and the process went on"));
  }
  SECTION("but not when it has ended") {
    notes.back().process = 1;
    CHECK(Found().empty());
  }
}

TEST_CASE_METHOD(Fixture, "a watch that shows an object as it was before is found") {
  Put("member1", 14, "a", 3);
  Add(Kind::kWatchBegins, {}).first = true;
  Event("ADDED", {{"member1", 14}}, Read("member1", "a", 3));
  Event("MODIFIED", {{"member1", 14}}, Read("member1", "a", 2));
  CHECK_THAT(Found(), Catch::Contains("goes back to"));
}

TEST_CASE_METHOD(Fixture, "a watch whose versions decrease is found") {
  List();
  Add(Kind::kWatchBegins, {{"member1", 13}, {"member2", 21}});
  Add(Kind::kBookmark, {{"member1", 12}, {"member2", 21}});
  CHECK_THAT(Found(), Catch::Contains("the bookmark is of version 12 of member1 after 13"));
}

TEST_CASE_METHOD(Fixture, "a watch that shows a deletion that was not is found") {
  List();
  Event("DELETED", {{"member1", 13}, {"member2", 21}}, Read("member1", "b", 1));
  CHECK_THAT(Found(), Catch::Contains("one/b at member1=13,member2=21 was not deleted"));
}

TEST_CASE_METHOD(Fixture, "a watch that hides that the name belongs to another object is found") {
  List();
  Delete("member1", 14, "b");
  Put("member1", 15, "b", 2);
  Event("MODIFIED", {{"member1", 15}, {"member2", 21}}, Read("member1", "b", 2));
  CHECK_THAT(Found(), Catch::Contains("hides a deletion"));
}

TEST_CASE_METHOD(Fixture, "a change that a watch has left out is found at the next bookmark") {
  List();
  SECTION("an update") { Put("member1", 14, "b", 2); }
  SECTION("a deletion") { Delete("member1", 14, "b"); }
  SECTION("a new object") { Put("member1", 14, "d", 1); }
  Add(Kind::kBookmark, {{"member1", 13}, {"member2", 21}});
  CHECK(Found().empty());
  Add(Kind::kBookmark, {{"member1", 14}, {"member2", 21}});
  CHECK_THAT(Found(), Catch::Contains("a bookmark at member1=14,member2=21: member1 one/"));
}

TEST_CASE_METHOD(Fixture, "a reader who does not have in the end what there is, is found") {
  List();
  SECTION("because a watch has left out a change") {
    Add(Kind::kWatchBegins, {});
    Put("member1", 14, "b", 2);
    Add(Kind::kSettled, {});
    CHECK_THAT(Found(), Catch::Contains("in the end: member1 one/b of version 14 was not shown"));
  }
  SECTION("because a list is not sure") {
    notes.back().stale = {"member2"};
    Add(Kind::kSettled, {});
    CHECK_THAT(Found(), Catch::Contains("in the end a list is not sure of member2"));
  }
  SECTION("because there is no answer") {
    Add(Kind::kRefused, {}).code = 503;
    Add(Kind::kSettled, {});
    CHECK_THAT(Found(), Catch::Contains("has no answer in the end, but 503"));
  }
}

TEST_CASE_METHOD(Fixture, "what a member becomes again by a backup may be read") {
  List();
  Add(Kind::kWatchBegins, {{"member1", 13}, {"member2", 21}});
  kube::Object a(Object("a", 1, "a"));
  a.Set({"metadata", "resourceVersion"}, "11");
  history.BeginEpoch("member1", 14, {kube::Share(std::move(a))});
  Event("MODIFIED", {{"member1", 13}, {"member2", 21}}, Read("member1", "a", 1));
  Event("DELETED", {{"member1", 14}, {"member2", 21}}, Read("member1", "b", 1));
  Add(Kind::kBookmark, {{"member1", 14}, {"member2", 21}});
  Add(Kind::kSettled, {});
  CHECK(Found().empty());
}

}  // namespace
}  // namespace prove
