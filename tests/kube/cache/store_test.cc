#include "kube/cache/store.h"

#include <catch2/catch.hpp>

#include <algorithm>

#include "tests/support/pods.h"

namespace kube {
namespace {

using tests::Pod;

std::vector<std::string> NamesOf(const std::vector<ObjectPtr>& objects) {
  std::vector<std::string> names;
  for (const ObjectPtr& object : objects) names.emplace_back(object->name());
  std::sort(names.begin(), names.end());
  return names;
}

using Names = std::vector<std::string>;

std::vector<std::string> NodeOf(const Object& pod) {
  const std::string node = pod.spec()["node"].ToString();
  return node.empty() ? Names{} : Names{node};
}

ObjectPtr PodOn(const std::string& node, const std::string& name, int64_t version) {
  Object pod = Pod(name, version, "uid-" + name);
  pod.Set({"spec", "node"}, node);
  return Share(pod);
}

TEST_CASE("a store gives back what was put in, by key") {
  Store store;
  const ObjectPtr pod = Share(Pod("a", 1));
  REQUIRE(store.Put(pod, nullptr));
  CHECK(store.Find({"ns", "a"}) == pod);
  CHECK(store.Find({"ns", "b"}) == nullptr);
  CHECK(store.Find({"other", "a"}) == nullptr);
  CHECK(store.size() == 1);
}

TEST_CASE("only a newer version replaces the held copy") {
  struct Case {
    int64_t held, offered;
    bool stored;
  };
  const Case c = GENERATE(Case{5, 6, true}, Case{5, 5, false}, Case{6, 5, false}, Case{9, 10, true},
                          Case{5, 0, true});
  Store store;
  const ObjectPtr held = Share(Pod("a", c.held));
  store.Put(held, nullptr);
  ObjectPtr previous;
  CHECK(store.Put(Share(Pod("a", c.offered)), &previous) == c.stored);
  CHECK(previous == (c.stored ? held : nullptr));
  CHECK(store.size() == 1);
}

TEST_CASE("a namespace lists its own objects, whatever comes and goes") {
  Store store;
  const auto put = [&](const std::string& ns, const std::string& name, int64_t version) {
    Object pod = Object::Make(tests::kPods.gvk, {ns, name});
    pod.Set({"metadata", "resourceVersion"}, absl::StrCat(version));
    store.Put(Share(pod), nullptr);
  };
  const auto in = [&](const std::string& ns) { return NamesOf(store.List(ns, LabelSelector())); };
  put("x", "a", 1);
  put("y", "b", 2);
  CHECK(in("x") == Names{"a"});
  put("x", "c", 3);
  put("x", "a", 4);
  CHECK(in("x") == Names{"a", "c"});
  CHECK(store.List("x", LabelSelector()).size() == 2);
  CHECK(store.Find({"x", "a"})->resource_version() == "4");
  for (const ObjectPtr& object : store.List("x", LabelSelector())) {
    CHECK(object == store.Find(object->key()));
  }
  store.Remove({"x", "a"}, nullptr);
  CHECK(in("x") == Names{"c"});
  CHECK(in("y") == Names{"b"});
  CHECK(in("z").empty());
  CHECK(in("") == Names{"b", "c"});
}

TEST_CASE("an index holds the newest state of an object that stays under its values") {
  Store store;
  store.AddIndex("node", NodeOf);
  store.Put(PodOn("n1", "a", 1), nullptr);
  store.Put(PodOn("n1", "a", 2), nullptr);
  REQUIRE(store.ByIndex("node", "n1").size() == 1);
  CHECK(store.ByIndex("node", "n1")[0] == store.Find({"ns", "a"}));
  CHECK(store.CountByIndex("node", "n1") == 1);
  CHECK(store.CountByIndex("node", "n2") == 0);
}

TEST_CASE("the values of an object under an index are determined once for each of its states") {
  Store store;
  int calls = 0;
  store.AddIndex("node", [&](const Object& pod) {
    ++calls;
    return NodeOf(pod);
  });
  store.Put(PodOn("n1", "a", 1), nullptr);
  CHECK(calls == 1);
  const std::string node = GENERATE(as<std::string>(), "n1", "n2");
  store.Put(PodOn(node, "a", 2), nullptr);
  CHECK(calls == 3);  // Nothing is kept of the state before.
  CHECK(store.CountByIndex("node", node) == 1);
  CHECK(store.CountByIndex("node", "n1") == (node == "n1" ? 1 : 0));
}

TEST_CASE("a list replaces what was known when it was asked for") {
  struct Case {
    int64_t held, listed, list_version;
    bool after_mark;  // The held state is newer than the request for the list.
    bool stored;
  };
  const Case c =
      GENERATE(Case{5, 6, 9, false, true}, Case{6, 5, 9, false, true}, Case{6, 5, 5, false, true},
               Case{12, 5, 9, true, false}, Case{7, 8, 9, true, true}, Case{5, 5, 9, false, false});
  Store store;
  Store::ListMark mark = store.BeginList();
  store.Put(Share(Pod("a", c.held)), nullptr);
  if (!c.after_mark) mark = store.BeginList();
  ObjectPtr previous;
  CHECK(store.PutListed(Share(Pod("a", c.listed)), mark, c.list_version, &previous) == c.stored);
  CHECK((previous != nullptr) == c.stored);
}

TEST_CASE(
    "a deletion learned of while a list is under way covers the list, an earlier one does not") {
  Store store;
  store.Put(Share(Pod("a", 5, "u")), nullptr);
  const bool before = GENERATE(true, false);
  Store::ListMark mark = store.BeginList();
  store.Remove({"ns", "a"}, nullptr);
  if (before) mark = store.BeginList();
  CHECK(store.PutListed(Share(Pod("a", 5, "u")), mark, 9, nullptr) == before);
}

TEST_CASE("a removal says what was there") {
  Store store;
  const ObjectPtr pod = Share(Pod("a", 5));
  store.Put(pod, nullptr);
  CHECK(store.Remove({"ns", "a"}, nullptr) == pod);
  CHECK(store.Remove({"ns", "a"}, nullptr) == nullptr);
  CHECK(store.size() == 0);
}

TEST_CASE("news older than a deletion do not bring the object back") {
  Store store;
  store.Put(Share(Pod("a", 5, "u")), nullptr);
  const Object deleted = Pod("a", 8, "u");
  REQUIRE(store.Remove({"ns", "a"}, &deleted) != nullptr);

  CHECK_FALSE(store.Put(Share(Pod("a", 7, "u")), nullptr));
  CHECK_FALSE(store.Put(Share(Pod("a", 8, "u")), nullptr));
  SECTION("but a later state does: it came back into the selection, or is a new one") {
    CHECK(store.Put(Share(Pod("a", 9, "u")), nullptr));
  }
}

TEST_CASE("a deletion of what is not held is remembered too") {
  Store store;
  const Object deleted = Pod("a", 8, "u");
  CHECK(store.Remove({"ns", "a"}, &deleted) == nullptr);
  CHECK_FALSE(store.Put(Share(Pod("a", 7, "u")), nullptr));
}

TEST_CASE("an incarnation deleted for good never returns, its successor may") {
  Store store;
  store.Put(Share(Pod("a", 5, "old")), nullptr);
  store.Remove({"ns", "a"}, nullptr);
  CHECK_FALSE(store.Put(Share(Pod("a", 6, "old")), nullptr));
  CHECK(store.Put(Share(Pod("a", 7, "new")), nullptr));
  CHECK(store.Find({"ns", "a"})->uid() == "new");
}

TEST_CASE("the deletion of an older incarnation leaves the newer one alone") {
  Store store;
  store.Put(Share(Pod("a", 9, "new")), nullptr);
  const Object deleted = Pod("a", 7, "old");
  CHECK(store.Remove({"ns", "a"}, &deleted) == nullptr);
  CHECK(store.size() == 1);
}

TEST_CASE("deletions are forgotten after two ageings") {
  Store store;
  const Object deleted = Pod("a", 8, "u");
  store.Remove({"ns", "a"}, &deleted);
  store.AgeDeletions();
  CHECK_FALSE(store.Put(Share(Pod("a", 7, "u")), nullptr));
  store.AgeDeletions();
  CHECK(store.Put(Share(Pod("a", 7, "u")), nullptr));
}

TEST_CASE("an index follows its objects") {
  Store store;
  store.Put(PodOn("n1", "a", 1), nullptr);
  store.AddIndex("node", NodeOf);
  store.Put(PodOn("n1", "b", 2), nullptr);
  store.Put(PodOn("", "c", 3), nullptr);
  CHECK(NamesOf(store.ByIndex("node", "n1")) == Names{"a", "b"});

  SECTION("when one moves") {
    store.Put(PodOn("n2", "a", 4), nullptr);
    CHECK(NamesOf(store.ByIndex("node", "n1")) == Names{"b"});
    CHECK(NamesOf(store.ByIndex("node", "n2")) == Names{"a"});
  }
  SECTION("when one changes in place the new state is filed") {
    store.Put(PodOn("n1", "a", 4), nullptr);
    for (const ObjectPtr& pod : store.ByIndex("node", "n1")) {
      CHECK(pod == store.Find(pod->key()));
    }
  }
  SECTION("when one is removed") {
    store.Remove({"ns", "a"}, nullptr);
    CHECK(NamesOf(store.ByIndex("node", "n1")) == Names{"b"});
  }
  SECTION("adding it again changes nothing") {
    store.AddIndex("node", [](const Object&) { return Names{"elsewhere"}; });
    CHECK(NamesOf(store.ByIndex("node", "n1")) == Names{"a", "b"});
    CHECK(store.ByIndex("node", "elsewhere").empty());
  }
}

TEST_CASE("a list can be narrowed to a namespace and a selector") {
  Store store;
  Object red = Pod("red", 1);
  red.SetLabel("colour", "red");
  Object elsewhere = Object::Make(tests::kPods.gvk, {"other", "red"});
  elsewhere.SetLabel("colour", "red");
  for (const Object& pod : {red, elsewhere, Pod("plain", 2)}) store.Put(Share(pod), nullptr);

  const LabelSelector is_red = LabelSelector::Equal("colour", "red");
  CHECK(store.List("ns", is_red).size() == 1);
  CHECK(store.List("", is_red).size() == 2);
  CHECK(store.List("ns", LabelSelector()).size() == 2);
  CHECK(store.List().size() == 3);
}

}  // namespace
}  // namespace kube
