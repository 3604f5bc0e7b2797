// Lists and watches that select objects by their cluster.
#include "search/proxy/internal/cluster_selector.h"

#include <catch2/catch.hpp>
#include <string>

#include "tests/search/proxy/reading_client.h"

namespace search {
namespace {

using tests::Eventually;

constexpr char kLabel[] = "labelSelector=resource.karmada.io/cached-from-cluster";

struct Fixture : CacheReadsFixture {
  Fixture() {
    REQUIRE(Cache({"m1", "m2", "m3"}));
    for (const char* cluster : {"m1", "m2", "m3"}) Put(cluster, "a", "x");
    Put("m2", "a", "y", "db");
  }
  // Returns "m1/x m2/x" of a list, or its error.
  std::string List(const std::string& query) {
    const json::Value body = Send(absl::StrCat("/api/v1/pods?", query))->Body();
    if (body["kind"].AsString() == "Status") {
      return absl::StrCat(body["code"].AsInt(), " ", body["message"].AsString());
    }
    version = body["metadata"]["resourceVersion"].ToString();
    std::vector<std::string> names;
    for (const json::Value& item : body["items"].items()) {
      const kube::Object object(item);
      names.push_back(absl::StrCat(object.Annotation("resource.karmada.io/cached-from-cluster"),
                                   "/", object.name()));
    }
    return absl::StrJoin(names, " ");
  }

  std::string version;  // Of the last list.
};

TEST_CASE("lists select by the cluster as by a field or a label, with further selectors") {
  Fixture f;
  CHECK(f.List("fieldSelector=cluster=m2") == "m2/x m2/y");
  CHECK(f.List("fieldSelector=cluster!=m2") == "m1/x m3/x");
  CHECK(f.List("fieldSelector=cluster!=m2,cluster!=m3") == "m1/x");
  CHECK(f.List("fieldSelector=cluster=m2,metadata.name=y") == "m2/y");
  CHECK(f.List("fieldSelector=cluster=none").empty());
  CHECK(f.List(absl::StrCat(kLabel, "=m1")) == "m1/x");
  CHECK(f.List(absl::StrCat(kLabel, "!=m3,app=web")) == "m1/x m2/x");
  CHECK(f.List(absl::StrCat(kLabel, "!=m1&fieldSelector=cluster!=m2")) == "m3/x");
  CHECK(f.List(absl::StrCat(kLabel, "&limit=9")) == "m1/x m2/x m2/y m3/x");
  CHECK(f.List("labelSelector=!resource.karmada.io/cached-from-cluster").empty());
  CHECK(f.List(absl::StrCat(kLabel, "!=m3&fieldSelector=cluster!=m1")) == "m2/x m2/y");
  // A choice stays one.
  CHECK(f.List("cluster=m1&fieldSelector=cluster=m2").empty());
  CHECK(f.List("cluster=m2&fieldSelector=cluster=m2,metadata.name=x") == "m2/x");
  CHECK(f.List("fieldSelector=cluster=m2&sort=-metadata.name") == "m2/y m2/x");
  CHECK_THAT(f.List("fieldSelector=clusters=m2"), Catch::StartsWith("400 "));
}

TEST_CASE("every form of a selector selects clusters, and what is left selects objects") {
  const auto selected = [](const std::string& labels, const std::string& fields) {
    kube::server::ListOptions options;
    options.labels = *kube::LabelSelector::Parse(labels);
    options.fields = *kube::FieldSelector::Parse(fields);
    ClusterChoice choice;
    REQUIRE(TakeClusterSelectors(kube::server::FieldLabels::Of({"", "v1", "Pod"}), options, choice)
                .ok());
    std::string out;
    for (const char* cluster : {"m1", "m2", "m3"}) {
      if (choice.Selects(cluster)) absl::StrAppend(&out, cluster, " ");
    }
    return absl::StrCat(out, "| ", options.labels.ToString(), " | ", options.fields.ToString());
  };
  const std::string label = "resource.karmada.io/cached-from-cluster";
  CHECK(selected("", "") == "m1 m2 m3 |  | ");
  CHECK(selected(label + " in (m1,m3),app in (a,b)", "") == "m1 m3 | app in (a,b) | ");
  CHECK(selected(label + " notin (m1),!app", "") == "m2 m3 | !app | ");
  CHECK(selected(label + ",app=web", "") == "m1 m2 m3 | app=web | ");
  CHECK(selected("!" + label + ",n>1", "") == "| n>1 | ");
  CHECK(selected(label + "=m1," + label + "=m2", "") == "|  | ");
  CHECK(selected("", "cluster!=m1,spec.nodeName=a\\,b\\=c") ==
        "m2 m3 |  | spec.nodeName=a\\,b\\=c");
  CHECK(selected("app", "spec.nodeName!=n,cluster=m2") == "m2 | app | spec.nodeName!=n");
}

TEST_CASE("a kind that has a field of this name keeps it") {
  kube::server::ListOptions options;
  options.fields = *kube::FieldSelector::Parse("cluster=m1");
  ClusterChoice choice;
  const auto fields = kube::server::FieldLabels::OfCustom(true, {".cluster"});
  REQUIRE(TakeClusterSelectors(fields, options, choice).ok());
  CHECK(choice.Selects("m2"));
  CHECK(options.fields.ToString() == "cluster=m1");
}

TEST_CASE("a list of selected clusters has their versions and pages, and lacks no other") {
  Fixture f;
  CHECK(f.List("fieldSelector=cluster!=m1&limit=1") == "m2/x");
  CHECK(CompositeVersion::Parse(f.version).versions().size() == 2);
  f.Server("m1").FailNext("WATCH", 500, "InternalError", 1000);
  f.Server("m1").EndWatches(absl::UnavailableError("cut off"));
  REQUIRE(Eventually([&] { return !f.cache().Find("m1", tests::kPods.gvr())->last_error().ok(); }));
  CHECK(f.Send("/api/v1/pods?fieldSelector=cluster!=m1")->Warnings().empty());
  CHECK(f.Send("/api/v1/pods?fieldSelector=cluster=m1")->Warnings().size() == 1);
}

TEST_CASE("a watch shows the selected clusters, also those that join later") {
  Fixture f;
  CHECK(f.List("fieldSelector=cluster!=m1") == "m2/x m2/y m3/x");
  const auto watch = f.Send(
      absl::StrCat("/api/v1/pods?watch=1&fieldSelector=cluster!=m1&resourceVersion=", f.version));
  f.Put("m1", "a", "of-m1");
  f.Put("m3", "a", "of-m3");
  REQUIRE(Eventually([&] { return !watch->Events().empty(); }));
  f.cache().SetScope(Fixture::Scope({"m1", "m2", "m3", "m4"}));
  f.Put("m4", "a", "joined");
  REQUIRE(Eventually([&] { return watch->Events().size() >= 2; }));
  CHECK(watch->Events() == std::vector<std::string>{"ADDED m3/of-m3", "ADDED m4/joined"});
}

}  // namespace
}  // namespace search
