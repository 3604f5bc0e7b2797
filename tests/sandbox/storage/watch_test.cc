// The store's watches: order, resumption, expiry; and pages of lists.
#include <catch2/catch.hpp>

#include "sandbox/storage/list_query.h"
#include "tests/sandbox/write/backend_fixture.h"

namespace sandbox {
namespace {

const GroupName kTable{"", "configmaps"};

// "+a", "~a", "-a" for added, modified, deleted; "*" for a bookmark.
struct Log {
  std::string text;
  std::vector<int64_t> versions;
  EventHub::Sink Sink() {
    return [this](const ChangePtr& change, int64_t version) {
      versions.push_back(version);
      if (change == nullptr) {
        text += "*";
        return;
      }
      text += change->type == Event::Type::kAdded      ? "+"
              : change->type == Event::Type::kModified ? "~"
                                                       : "-";
      text += std::string(change->object->name());
    };
  }
};

TEST_CASE("a watch sees what exists, a bookmark, then every change in order") {
  Store store(100);
  const auto a = store.Insert(kTable, ConfigMap("a"));
  Log log;
  const auto id = store.Watch({.table = kTable}, log.Sink());
  REQUIRE(id.ok());
  const auto b = store.Insert(kTable, ConfigMap("b"));
  const auto b2 = store.Replace(kTable, b, ConfigMap("b", "2"));
  store.Insert({"", "secrets"}, ConfigMap("other"));
  store.Remove(kTable, a, *a);
  CHECK(log.text == "+a*+b~b-a");
  CHECK(std::is_sorted(log.versions.begin(), log.versions.end()));
  store.Unwatch(*id);
  store.Remove(kTable, b2, *b2);
  CHECK(log.text == "+a*+b~b-a");
}

TEST_CASE("a watch of every table sees all resources") {
  Store store(100);
  Log log;
  REQUIRE(store.Watch({}, log.Sink()).ok());
  store.Insert(kTable, ConfigMap("a"));
  store.Insert({"", "secrets"}, ConfigMap("b"));
  CHECK(log.text == "*+a+b");
}

TEST_CASE("a watch can begin with the objects of an earlier version") {
  Store store(100);
  const auto a = store.Insert(kTable, ConfigMap("a"));
  const auto b = store.Insert(kTable, ConfigMap("b"));
  const int64_t then = store.version();
  store.Replace(kTable, a, ConfigMap("a", "2"));
  store.Remove(kTable, b, *b);
  Log log;
  SECTION("and a bookmark at that version") {
    REQUIRE(store.Watch({.table = kTable, .as_of = then}, log.Sink()).ok());
    CHECK(log.text == "+a+b*~a-b");
    CHECK(log.versions[2] == then);
  }
  SECTION("and a bookmark at the present one") {
    REQUIRE(store.Watch({.table = kTable, .as_of = then, .mark_present = true}, log.Sink()).ok());
    CHECK(log.text == "+a+b~a-b*");
    CHECK(log.versions[4] == store.version());
  }
  SECTION("unless history does not reach back to it") {
    store.ExpireHistory();
    CHECK(ErrorOf(store.Watch({.table = kTable, .as_of = then}, log.Sink()).status()).code == 410);
  }
}

TEST_CASE("an object can be read as of an earlier version") {
  Store store(100);
  const auto a = store.Insert(kTable, ConfigMap("a"));
  const int64_t then = store.version();
  const auto changed = store.Replace(kTable, a, ConfigMap("a", "2"));
  const int64_t later = store.version();
  store.Remove(kTable, changed, *changed);
  const int64_t gone = store.version();
  const auto at = [&](int64_t version) { return *store.GetAt(kTable, {"default", "a"}, version); };
  CHECK(at(then - 1) == nullptr);
  CHECK(at(then) == a);
  CHECK(at(later) == changed);
  CHECK(at(gone) == nullptr);
  CHECK(ErrorOf(store.GetAt(kTable, {"default", "a"}, gone + 1).status()).code == 504);
}

TEST_CASE("a watch resumes after the version it names") {
  Store store(100);
  const auto a = store.Insert(kTable, ConfigMap("a"));
  store.Insert(kTable, ConfigMap("b"));
  store.Replace(kTable, a, ConfigMap("a", "2"));
  Log log;
  REQUIRE(store
              .Watch({.table = kTable, .initial = false, .since = kube::ResourceVersionOf(*a)},
                     log.Sink())
              .ok());
  CHECK(log.text == "+b~a*");
}

TEST_CASE("a version that history no longer covers has expired") {
  Store store(2);
  const auto a = store.Insert(kTable, ConfigMap("a"));
  for (const char* name : {"b", "c", "d"}) store.Insert(kTable, ConfigMap(name));
  Log log;
  const auto old = store.Watch(
      {.table = kTable, .initial = false, .since = kube::ResourceVersionOf(*a)}, log.Sink());
  CHECK(ErrorOf(old.status()).code == 410);
  CHECK(ErrorOf(old.status()).reason == "Expired");
  CHECK(Message(old.status()) == "too old resource version: 2 (3)");
  CHECK(store.Watch({.table = kTable, .initial = false, .since = 3}, log.Sink()).ok());

  const int64_t newest = store.version();
  store.ExpireHistory();
  CHECK_FALSE(store.Watch({.table = kTable, .initial = false, .since = newest}, log.Sink()).ok());
}

TEST_CASE("a restored store has its objects of before, and older watches expire") {
  Store store(100);
  const auto kept = store.Insert(kTable, ConfigMap("kept"));
  const auto changed = store.Insert(kTable, ConfigMap("changed"));
  const auto gone = store.Insert(kTable, ConfigMap("gone"));
  const Store::Tables backup = store.Backup();
  Log log;
  REQUIRE(
      store.Watch({.table = kTable, .initial = false, .since = store.version()}, log.Sink()).ok());
  log.text.clear();
  store.Replace(kTable, changed, ConfigMap("changed", "2"));
  store.Remove(kTable, gone, *gone);
  store.Insert(kTable, ConfigMap("new"));
  const int64_t newest = store.version();
  store.Restore(backup);
  CHECK(log.text ==
        "~changed-gone+new"
        "-new~changed+gone");
  CHECK(store.Get(kTable, kept->key()) == kept);
  CHECK(store.Get(kTable, changed->key()) == changed);
  CHECK(store.Get(kTable, gone->key()) == gone);
  CHECK(store.List(kTable, "").objects.size() == 3);
  const auto old = store.Watch({.table = kTable, .initial = false, .since = newest}, log.Sink());
  CHECK(ErrorOf(old.status()).code == 410);
  CHECK(store.version() > newest);
  const auto future =
      store.Watch({.table = kTable, .initial = false, .since = store.version() + 1}, log.Sink());
  CHECK(ErrorOf(future.status()).code == 504);
}

TEST_CASE("a sink may write and unsubscribe without deadlock, in order") {
  Store store(100);
  Log log;
  int64_t id = 0;
  int calls = 0;
  const auto sink = [&](const ChangePtr& change, int64_t) {
    if (change == nullptr) return;
    if (++calls == 1) store.Insert(kTable, ConfigMap("second"));
    if (calls == 2) store.Unwatch(id);
  };
  id = *store.Watch({.table = kTable}, sink);
  REQUIRE(store.Watch({.table = kTable}, log.Sink()).ok());
  store.Insert(kTable, ConfigMap("first"));
  store.Insert(kTable, ConfigMap("third"));
  CHECK(calls == 2);
  CHECK(log.text == "*+first+second+third");
}

TEST_CASE("a writer that is too late changes nothing") {
  Store store(100);
  const auto a = store.Insert(kTable, ConfigMap("a"));
  CHECK(store.Insert(kTable, ConfigMap("a")) == nullptr);
  REQUIRE(store.Replace(kTable, a, ConfigMap("a", "2")) != nullptr);
  CHECK(store.Replace(kTable, a, ConfigMap("a", "3")) == nullptr);
  CHECK(store.Remove(kTable, a, *a) == nullptr);
}

using kube::server::ListOptions;

absl::StatusOr<ListPage> List(ServerBackend& backend,
                              std::vector<std::pair<std::string, std::string>> query) {
  base::HttpRequest request;
  request.query = std::move(query);
  const ResourceInfoPtr info = backend.registry().Find(kConfigMaps);
  const auto options = ListOptions::Read(request);
  if (!options.ok()) return options.status();
  const auto selection = Selection::Of(*options, *info, {"default", ""});
  if (!selection.ok()) return selection.status();
  return ListPageOf(backend.store(), *info, *selection, *options);
}

TEST_CASE("the pages of a list show one moment") {
  ServerBackend backend(100);
  for (const char* name : {"a", "b", "c", "d"}) {
    REQUIRE(backend.Create(kConfigMaps, ConfigMap(name), false).ok());
  }
  const auto page = [&](const std::string& token) {
    return List(backend, {{"limit", "2"}, {"continue", token}});
  };
  const auto first = page("");
  REQUIRE(first.ok());
  CHECK(first->objects.size() == 2);
  CHECK(first->remaining == 2);

  // Changes between two pages are not visible in them.
  REQUIRE(backend.Delete(kConfigMaps, {"default", "c"}, {}).ok());
  REQUIRE(backend.Create(kConfigMaps, ConfigMap("cc"), false).ok());
  kube::Object d = ConfigMap("d", "changed");
  REQUIRE(backend.Update(kConfigMaps, d, "", false).ok());
  const auto second = page(first->next);
  REQUIRE(second.ok());
  REQUIRE(second->objects.size() == 2);
  CHECK(second->objects[0]->name() == "c");
  CHECK(second->objects[1]->name() == "d");
  CHECK(second->objects[1]->root()["data"]["key"].AsString() == "1");
  CHECK(second->version == first->version);
  CHECK(second->next.empty());

  backend.store().ExpireHistory();
  CHECK(ErrorOf(page(first->next).status()).code == 410);
  CHECK(ErrorOf(page("nonsense").status()).code == 400);
}

TEST_CASE("selectors narrow a list") {
  ServerBackend backend(100);
  for (const char* name : {"a", "b", "c"}) {
    kube::Object o = ConfigMap(name);
    o.SetLabel("letter", name);
    REQUIRE(backend.Create(kConfigMaps, o, false).ok());
  }
  struct Case {
    const char* parameter;
    const char* value;
    size_t count;
  };
  const Case cases[] = {{"labelSelector", "letter in (a,b)", 2},
                        {"labelSelector", "letter!=a", 2},
                        {"fieldSelector", "metadata.name=b", 1},
                        {"fieldSelector", "metadata.namespace=other", 0}};
  for (const Case& c : cases) {
    const auto page = List(backend, {{c.parameter, c.value}});
    REQUIRE(page.ok());
    INFO(c.value);
    CHECK(page->objects.size() == c.count);
  }
  CHECK(ErrorOf(List(backend, {{"labelSelector", "a=(("}}).status()).code == 400);
  CHECK(ErrorOf(List(backend, {{"fieldSelector", "data.key=1"}}).status()).message ==
        "\"data.key\" is not a known field selector: only \"metadata.name\", "
        "\"metadata.namespace\"");
}

TEST_CASE("a version from the future is a time-out") {
  ServerBackend backend(100);
  const auto page = List(backend, {{"resourceVersion", "99999"}});
  CHECK(ErrorOf(page.status()).code == 504);
  CHECK(ErrorOf(page.status()).details["retryAfterSeconds"].AsInt() == 1);
}

}  // namespace
}  // namespace sandbox
