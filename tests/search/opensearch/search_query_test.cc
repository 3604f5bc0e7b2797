#include "search/opensearch/search_query.h"

#include <catch2/catch.hpp>

#include "absl/strings/match.h"
#include "api/search_keys.h"
#include "base/fair_share.h"
#include "tests/search/opensearch/hostile_objects.h"
#include "tests/search/opensearch/mirror_fixture.h"

namespace tests {
namespace {

using search::DocumentQuery;
using search::QueryOf;

const kube::Gvk kPod = {"", "v1", "Pod"};

TEST_CASE("A list's parameters become a query") {
  DocumentQuery query{.kind = kPod, .clusters = {"m1"}, .ns = "n"};
  query.labels = kube::LabelSelector::Parse("app in (a,b),tier!=db,x,!y").value();
  query.fields = kube::FieldSelector::Parse("metadata.name=web,status.phase!=Running")->terms();
  const auto text = QueryOf(query);
  REQUIRE(text.ok());
  CHECK(json::Write(*text) ==
        R"({"bool":{"filter":[{"term":{"group":""}},{"term":{"version":"v1"}},)"
        R"({"term":{"kind":"Pod"}},{"terms":{"cluster":["m1"]}},{"term":{"namespace":"n"}},)"
        R"({"terms":{"labels.app":["a","b"]}},{"term":{"labelKeys":"x"}},)"
        R"({"term":{"name":"web"}}],"must_not":[{"terms":{"labels.tier":["db"]}},)"
        R"({"term":{"labelKeys":"y"}},{"term":{"status.phase":"Running"}}]}})");
}

TEST_CASE("What cannot be searched for is refused") {
  DocumentQuery query{.kind = kPod};
  query.fields = kube::FieldSelector::Parse("data.x=1")->terms();
  CHECK(absl::StrContains(QueryOf(query).status().message(), "field label not supported: data.x"));
}

std::vector<kube::Object> ObjectsOf(const search::DocumentPage& page) {
  std::vector<kube::Object> objects;
  for (const std::string& text : page.items) objects.emplace_back(json::Parse(text).value());
  return objects;
}

class SearchFixture : public MirrorFixture {
 protected:
  search::DocumentPage Search(DocumentQuery query) {
    auto page = search::SearchDocuments({&mirror_->client()}, server_.prefix(), query, {});
    INFO(page.status().message());
    REQUIRE(page.ok());
    return *std::move(page);
  }
  std::string Names(DocumentQuery query, const std::string& labels = "",
                    const std::string& fields = "") {
    query.labels = kube::LabelSelector::Parse(labels).value();
    query.fields = kube::FieldSelector::Parse(fields)->terms();
    std::string names;
    for (const kube::Object& item : ObjectsOf(Search(std::move(query)))) {
      absl::StrAppend(&names, names.empty() ? "" : " ", item.name());
    }
    return names;
  }
  void Refresh(const search::Slice& slice) {
    server_.Ask("POST", "/" + Index(slice) + "/_refresh");
  }
};

TEST_CASE_METHOD(SearchFixture,
                 "A continue token that is none is refused, a missing index is empty") {
  DocumentQuery query{.kind = kPod};
  for (const char* token : {"!", "e30", "bnVsbA", "eyJhZnRlciI6WzEsMiwzXSwic2VlbiI6MX0"}) {
    query.continue_token = token;
    const auto page = search::SearchDocuments({&mirror_->client()}, server_.prefix(), query, {});
    CHECK(page.status().code() == absl::StatusCode::kInvalidArgument);
  }
  query.continue_token = "";
  Settle();  // Nothing is asked before the mirror has looked what its addresses lead to.
  CHECK(Search(query).items.empty());
}

TEST_CASE_METHOD(SearchFixture, "Objects are found by labels and fields, in order, page by page",
                 "[opensearch]") {
  const auto put = [&](FakeSlice& cache, const std::string& uid, int version,
                       const std::string& labels, const std::string& more) {
    cache.Put(uid, version,
              absl::StrCat(R"({"metadata":{"namespace":"n","name":")", uid, R"(","uid":")", uid,
                           R"(","resourceVersion":")", version, R"(","labels":{)", labels, "}}",
                           more, "}"));
  };
  put(*cache1_, "a", 1, R"("app":"web","x.io/tier":"front")", R"(,"spec":{"nodeName":"n1"})");
  put(*cache1_, "b", 2, R"("app":"db","weight":"10")",
      R"(,"spec":{"nodeName":"n2"},"status":{"phase":"Failed"})");
  put(*cache2_, "a", 3, R"("app":"web","weight":"4")",
      R"(,"status":{"phase":"Running","on":true,"n":3})");
  put(*cache2_, "c", 4, R"("empty":"")", "");
  mirror_->Synced(pods1_, cache1_);
  mirror_->Synced(pods2_, cache2_);
  Settle();
  Refresh(pods1_);
  const DocumentQuery all{.kind = kPod};
  CHECK(Names(all) == "a b a c");
  CHECK(Names({.kind = kPod, .clusters = {"member2"}}) == "a c");
  CHECK(Names({.kind = kPod, .ns = "other"}) == "");
  CHECK(Names({.kind = kPod, .ns = "n", .name = "b"}) == "b");
  CHECK(Names(all, "app=web") == "a a");
  CHECK(Names(all, "app!=web") == "b c");
  CHECK(Names(all, "app in (db,web)") == "a b a");
  CHECK(Names(all, "x.io/tier") == "a");
  CHECK(Names(all, "x.io/tier=front") == "a");
  CHECK(Names(all, "!app") == "c");
  CHECK(Names(all, "empty=") == "c");
  CHECK(Names(all, "empty in (x)") == "");
  CHECK(Names(all, "weight>5") == "b");
  CHECK(Names(all, "weight<5,app=web") == "a");
  CHECK(Names(all, "", "spec.nodeName=n2") == "b");
  CHECK(Names(all, "", "status.phase!=Running") == "a b c");
  CHECK(Names(all, "", "status.phase=") == "a c");
  CHECK(Names(all, "", "status.on=true,status.n=3") == "a");
  CHECK(Names(all, "", "metadata.name=c,metadata.namespace=n") == "c");
  // Documents of others are left out, and disturb neither searches nor comparisons.
  server_.Ask("PUT", "/" + Index(pods1_) + "/_doc/x?refresh=true",
              R"({"group":"","version":"v1","kind":"Pod","cluster":"member1","rest":3})");
  CHECK(Names(all) == "a b a c");
  mirror_->Synced(pods1_, cache1_);
  Settle();
  server_.Ask("DELETE", "/" + Index(pods1_) + "/_doc/x?refresh=true");
  const search::DocumentPage page = Search({.kind = kPod, .limit = 3});
  REQUIRE(page.items.size() == 3);
  CHECK(page.remaining == 1);
  CHECK(ObjectsOf(page)[0].Annotation(api::kCachedFromClusterAnnotation) == "member1");
  CHECK(ObjectsOf(page)[2].Annotation(api::kCachedFromClusterAnnotation) == "member2");
  const search::DocumentPage last =
      Search({.kind = kPod, .limit = 3, .continue_token = page.continue_token});
  REQUIRE(last.items.size() == 1);
  CHECK(ObjectsOf(last)[0].name() == "c");
  CHECK(last.continue_token == "");
}

TEST_CASE_METHOD(SearchFixture, "Pages of filtered objects are whole, whatever goes between two",
                 "[opensearch]") {
  for (int i = 0; i < 10; ++i) {
    const std::string uid = absl::StrCat("p", i);
    cache1_->Put(uid, i + 1, Pod(uid, i + 1, absl::StrCat(R"(,"type":")", i % 2, R"(")")));
  }
  mirror_->Synced(pods1_, cache1_);
  Settle();
  Refresh(pods1_);
  DocumentQuery odd{.kind = kPod, .limit = 2};
  odd.also = [](const kube::Object& object) { return object.root()["type"].AsString() == "1"; };
  search::DocumentPage page = Search(odd);
  REQUIRE(page.items.size() == 2);
  CHECK(ObjectsOf(page)[1].name() == "pod-p3");
  CHECK(page.remaining == 6);
  // What the first page had goes: the rest is still there.
  for (int i = 0; i < 4; ++i) Erase(pods1_, *cache1_, absl::StrCat("p", i), 20 + i);
  Settle();
  Refresh(pods1_);
  odd.continue_token = page.continue_token;
  page = Search(odd);
  REQUIRE(page.items.size() == 2);
  CHECK(ObjectsOf(page)[0].name() == "pod-p5");
  CHECK_FALSE(page.continue_token.empty());
  odd.continue_token = page.continue_token;
  page = Search(odd);
  REQUIRE(page.items.size() == 1);
  CHECK(ObjectsOf(page)[0].name() == "pod-p9");
  CHECK(page.continue_token.empty());
}

TEST_CASE_METHOD(SearchFixture, "Sorted pages fit together, by numbers and quantities as well",
                 "[opensearch]") {
  const auto put = [&](FakeSlice& cache, const std::string& uid, const std::string& size) {
    cache.Put(uid, 1,
              absl::StrCat(R"({"metadata":{"namespace":"n","name":")", uid, R"(","uid":")", uid,
                           R"(","resourceVersion":"1"},"spec":{"size":)", size, "}}"));
  };
  put(*cache1_, "a", R"("1Gi")");
  put(*cache1_, "b", "null");
  put(*cache1_, "c", "9");
  put(*cache2_, "d", R"("900Mi")");
  put(*cache2_, "e", "10");
  put(*cache2_, "f", "9");
  mirror_->Synced(pods1_, cache1_);
  mirror_->Synced(pods2_, cache2_);
  Settle();
  Refresh(pods1_);
  const auto order = [](const char* text) { return kube::SortOrder::Parse(text).value(); };
  CHECK(Names({.kind = kPod, .sort = order("spec.size")}) == "c f e d a b");
  CHECK(Names({.kind = kPod, .sort = order("-spec.size,-metadata.name")}) == "a d e f c b");
  DocumentQuery query{.kind = kPod, .limit = 2, .sort = order("spec.size")};
  std::string names;
  for (int64_t remaining = 4; remaining >= 0; remaining -= 2) {
    const search::DocumentPage page = Search(query);
    CHECK(page.remaining == remaining);
    for (const kube::Object& item : ObjectsOf(page)) absl::StrAppend(&names, item.name());
    if (remaining > 0) query.continue_token = page.continue_token;
    CHECK(page.continue_token.empty() == (remaining == 0));
  }
  CHECK(names == "cfedab");
  query.sort = order("metadata.name");
  const auto refused = search::SearchDocuments({&mirror_->client()}, server_.prefix(), query, {});
  CHECK(absl::IsInvalidArgument(refused.status()));
  CHECK(absl::StrContains(refused.status().message(), "metadata.name"));
}

TEST_CASE_METHOD(SearchFixture, "Several OpenSearches are one list, and what two have is one") {
  TestOpenSearch other;
  options_.addresses = {other.url()};
  auto second = search::OpenSearchMirror::Create(options_, base::RealClock(), &metrics_);
  REQUIRE(second.ok());
  for (const char* uid : {"a", "c", "e"}) cache1_->Put(uid, 1, Pod(uid, 1));
  for (const char* uid : {"b", "d", "f"}) cache2_->Put(uid, 1, Pod(uid, 1));
  mirror_->Synced(pods1_, cache1_);
  mirror_->Synced(pods2_, cache2_);
  Settle();
  mirror_ = *std::move(second);
  mirror_->Synced(pods2_, cache2_);
  Settle();
  auto first_client = search::OpenSearchClient::Create({server_.url()}, {}, base::RealClock());
  REQUIRE(first_client.ok());
  const std::vector<search::OpenSearchClient*> clients = {&mirror_->client(), first_client->get()};
  DocumentQuery query{.kind = kPod, .limit = 4};
  std::string names;
  do {
    const auto page = search::SearchDocuments(clients, server_.prefix(), query, {});
    REQUIRE(page.ok());
    for (const kube::Object& item : ObjectsOf(*page)) {
      absl::StrAppend(&names, item.Annotation(api::kCachedFromClusterAnnotation), "/", item.name(),
                      " ");
    }
    query.continue_token = page->continue_token;
  } while (!query.continue_token.empty());
  CHECK(names ==
        "member1/pod-a member1/pod-c member1/pod-e member2/pod-b member2/pod-d member2/pod-f ");
}

TEST_CASE_METHOD(SearchFixture, "Documents that fit into no answer are read in smaller pages") {
  if (TestOpenSearch::IsReal()) return;
  constexpr int kDocuments = 66;
  options_.bulk_bytes = 8 << 20;
  Restart();
  const std::string large =
      absl::StrCat(R"(,"data":{"x":")", std::string(size_t{1} << 20, 'x'), R"("})");
  for (int i = 0; i < kDocuments; ++i) {
    const std::string uid = absl::StrCat("u", i);
    cache1_->Put(uid, i + 1, Pod(uid, i + 1, large));
  }
  mirror_->Synced(pods1_, cache1_);
  Settle();
  DocumentQuery query{.kind = kPod, .limit = 50};
  search::DocumentPage page = Search(query);
  CHECK(page.items.size() == 50);
  query.continue_token = page.continue_token;
  CHECK(Search(query).items.size() == kDocuments - 50);
  for (const char* order : {"", "metadata.name"}) {
    query = {.kind = kPod, .sort = kube::SortOrder::Parse(order).value()};
    const auto all = search::SearchDocuments({&mirror_->client()}, server_.prefix(), query, {});
    CHECK(
        all.status().message() ==
        "limit: the answer would have more than 64 MB; set a smaller limit, and read page by page");
    query.limit = 3;
    CHECK(Search(query).items.size() == 3);
  }
}

TEST_CASE_METHOD(SearchFixture, "Memory is taken for what a search reads and finds") {
  if (TestOpenSearch::IsReal()) return;
  constexpr int kDocuments = 40;
  const std::string large =
      absl::StrCat(R"(,"data":{"x":")", std::string(size_t{1} << 20, 'x'), R"("})");
  for (int i = 0; i < kDocuments; ++i) {
    const std::string uid = absl::StrCat("u", i);
    cache1_->Put(uid, i + 1, Pod(uid, i + 1, large));
  }
  mirror_->Synced(pods1_, cache1_);
  Settle();
  constexpr int64_t kText = int64_t{kDocuments} << 20;
  for (const char* order : {"", "metadata.name"}) {
    int64_t most = 0;
    base::FairShare memory(int64_t{256} << 20);
    DocumentQuery query{.kind = kPod, .sort = kube::SortOrder::Parse(order).value()};
    query.take = [&](size_t bytes) -> absl::StatusOr<std::shared_ptr<const void>> {
      base::FairShare::Taken taken = memory.Take("alice", static_cast<int64_t>(bytes));
      if (taken == nullptr) return absl::ResourceExhaustedError("too much");
      most = std::max(most, memory.used());
      return taken;
    };
    {
      const search::DocumentPage page = Search(query);
      CHECK(page.items.size() == kDocuments);
      CHECK(memory.used() >= kText);
      CHECK(memory.used() < kText + (1 << 20));
      // What has been read of the documents and is not text yet is a small part of them.
      CHECK(most < kText + (16 << 20));
    }
    CHECK(memory.used() == 0);
    query.limit = 3;
    CHECK(Search(query).items.size() == 3);
    constexpr int64_t kOthers = int64_t{236} << 20;
    const auto taken = memory.Take(base::kNoOwner, kOthers);
    query.limit = 0;
    const auto refused = search::SearchDocuments({&mirror_->client()}, server_.prefix(), query, {});
    CHECK(refused.status().message() == "too much");
    CHECK(memory.used() == kOthers);
  }
}

TEST_CASE_METHOD(SearchFixture, "Whatever custom resources contain is written and read back",
                 "[opensearch]") {
  const search::Slice things1 = {"member1", {"x.io", "v1", "Thing"}};
  const search::Slice things2 = {"member2", {"x.io", "v1", "Thing"}};
  int version = 0;
  std::map<std::string, std::string> written;
  for (const auto& [name, text] : HostileObjects()) {
    const std::string uid = absl::StrCat("thing-", version++);
    written[uid] = text;
    (version % 2 == 0 ? cache1_ : cache2_)->Put(uid, version, text);
  }
  mirror_->Synced(things1, cache1_);
  mirror_->Synced(things2, cache2_);
  Settle();
  const search::MirrorStatus status = mirror_->Status();
  for (const auto& dead : status.samples) FAIL_CHECK(dead.uid << ": " << dead.reason);
  Refresh(things1);
  const search::DocumentPage page = Search({.kind = things1.kind});
  CHECK(page.items.size() == written.size());
  for (kube::Object item : ObjectsOf(page)) {
    item.EraseAnnotation(api::kCachedFromClusterAnnotation);
    INFO(item.name());
    const kube::Object before(json::Parse(written[std::string(item.uid())]).value());
    CHECK((item == before));
  }
  CHECK(Names({.kind = things1.kind}, "", "spec.f4999=4999") == "thing-8");
  CHECK(Names({.kind = things1.kind}, "", "spec.size.min=a") == "thing-1");
  // The mapping has only the fields of the template.
  const std::string mapping = server_.Ask("GET", "/" + Index(things1) + "/_mapping").body;
  CHECK(mapping.size() < 4000);
}

}  // namespace
}  // namespace tests
