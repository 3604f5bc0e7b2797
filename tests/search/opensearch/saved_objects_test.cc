// The saved objects for OpenSearch Dashboards: that they hang together and use fields that the
// documents have, and, on a real OpenSearch, that each query finds what it should.
#include <map>
#include <set>

#include <catch2/catch.hpp>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "base/files.h"
#include "search/opensearch/index_template.h"
#include "tests/search/opensearch/mirror_fixture.h"

namespace tests {
namespace {

std::vector<json::Value> SavedObjects() {
  const std::string text = base::ReadFile("config/opensearch/saved-objects.ndjson").value();
  std::vector<json::Value> objects;
  for (const absl::string_view line : absl::StrSplit(text, '\n', absl::SkipEmpty())) {
    objects.push_back(json::Parse(line).value());
  }
  REQUIRE(objects.size() > 5);
  return objects;
}

json::Value Inner(const json::Value& object, json::Path path) {
  const auto value = json::Parse(object["attributes"].Get(path).AsString());
  INFO(object["id"].AsString());
  REQUIRE(value.ok());
  return *value;
}

std::string QueryTextOf(const json::Value& object) {
  return Inner(object, {"kibanaSavedObjectMeta", "searchSourceJSON"})
      .Get({"query", "query"})
      .ToString();
}

// The fields that a chart counts by, in the order of its levels.
std::vector<std::string> FieldsOf(const json::Value& chart) {
  std::vector<std::string> fields;
  const json::Value state = Inner(chart, {"visState"});
  for (const json::Value& agg : state["aggs"].items()) {
    const std::string field = agg.Get({"params", "field"}).ToString();
    if (!field.empty()) fields.push_back(field);
  }
  return fields;
}

// The type of a field in the template; "" if it has none.
std::string MappedType(absl::string_view field) {
  json::Value mapping = search::IndexTemplate("p", "").Get({"template", "mappings"});
  for (const absl::string_view part : absl::StrSplit(field, '.')) {
    mapping = mapping.Get({"properties", part});
  }
  return mapping["type"].ToString();
}

TEST_CASE("Saved objects refer to one another and to fields that documents have") {
  std::set<std::pair<std::string, std::string>> ids;
  const std::vector<json::Value> objects = SavedObjects();
  for (const json::Value& object : objects) {
    CHECK(ids.emplace(object["type"].ToString(), object["id"].ToString()).second);
  }
  for (const json::Value& object : objects) {
    INFO(object["id"].AsString());
    for (const json::Value& reference : object["references"].items()) {
      CHECK(ids.contains({reference["type"].ToString(), reference["id"].ToString()}));
    }
    const std::string type = object["type"].ToString();
    if (type == "index-pattern") {
      const auto options = search::MirrorOptions();
      CHECK(object.Get({"attributes", "title"}).AsString() == options.index_prefix + "-*");
    }
    if (type == "dashboard") {
      CHECK(Inner(object, {"panelsJSON"}).size() == object["references"].size());
    }
    std::vector<std::string> fields;
    if (type == "visualization") fields = FieldsOf(object);
    for (const json::Value& column : object.Get({"attributes", "columns"}).items()) {
      fields.push_back(column.ToString());
    }
    for (const std::string& field : fields) {
      INFO(field);
      const std::string mapped = MappedType(field);
      CHECK((mapped == "keyword" || mapped == "boolean" || mapped == "long"));
    }
  }
}

// What the index of OpenSearch Dashboards, whose mapping is strict, has for the attributes of a
// type.
json::Value AttributesOf(const std::string& type) {
  const auto fields = [](const std::string& kinds) {
    json::Value properties = json::Value::Object();
    for (const absl::string_view field : absl::StrSplit(kinds, ' ')) {
      const std::vector<std::string> parts = absl::StrSplit(field, ':');
      properties.Set({parts[0], "type"}, parts[1]);
    }
    properties.Set({"kibanaSavedObjectMeta", "properties", "searchSourceJSON", "type"}, "text");
    return json::Value::Object({{"properties", properties}});
  };
  if (type == "visualization") {
    return fields(
        "description:text title:text uiStateJSON:text visState:text version:integer "
        "savedSearchRefName:keyword");
  }
  if (type == "search") {
    return fields(
        "columns:keyword description:text hits:integer sort:keyword title:text "
        "version:integer");
  }
  if (type == "dashboard") {
    return fields(
        "description:text hits:integer optionsJSON:text panelsJSON:text timeFrom:keyword "
        "timeRestore:boolean timeTo:keyword title:text version:integer");
  }
  REQUIRE(type == "index-pattern");
  return fields("title:text type:keyword");
}

// The mapping of that index.
json::Value DashboardsMapping() {
  json::Value mapping = json::Value::Object({{"dynamic", "strict"}});
  for (const char* type : {"index-pattern", "search", "visualization", "dashboard"}) {
    mapping.Set({"properties", type}, AttributesOf(type));
  }
  mapping.Set({"properties", "type", "type"}, "keyword");
  mapping.Set({"properties", "updated_at", "type"}, "date");
  mapping.Set({"properties", "migrationVersion"},
              json::Value::Object({{"dynamic", "true"}, {"type", "object"}}));
  mapping.Set({"properties", "references", "type"}, "nested");
  for (const char* field : {"name", "type", "id"}) {
    mapping.Set({"properties", "references", "properties", field, "type"}, "keyword");
  }
  return mapping;
}

// What Dashboards stores when it imports a line of the file.
json::Value Imported(const json::Value& object) {
  json::Value document = json::Value::Object({{"updated_at", "2026-01-01T00:00:00.000Z"}});
  for (const char* field : {"type", "references", "migrationVersion"}) {
    document.Set(field, object[field]);
  }
  document.Set(object["type"].AsString(), object["attributes"]);
  return document;
}

TEST_CASE("Saved objects have the form that Dashboards imports") {
  const std::set<std::string> parts = {"attributes", "id", "migrationVersion", "references",
                                       "type"};
  const std::map<std::string, std::string> versions = {{"index-pattern", "7.6.0"},
                                                       {"search", "7.9.3"},
                                                       {"visualization", "7.10.0"},
                                                       {"dashboard", "7.9.3"}};
  for (const json::Value& object : SavedObjects()) {
    INFO(object["id"].AsString());
    for (const json::Member& member : object.members())
      CHECK(parts.contains(std::string(member.name())));
    const std::string type = object["type"].ToString();
    REQUIRE(versions.contains(type));
    CHECK(object.Get({"migrationVersion", type}).AsString() == versions.at(type));
    CHECK_FALSE(object.Get({"attributes", "title"}).AsString().empty());
    const json::Value known = AttributesOf(type)["properties"];
    for (const json::Member& attribute : object["attributes"].members()) {
      INFO(attribute.name());
      CHECK(known.Has(attribute.name()));
      if (absl::EndsWith(attribute.name(), "JSON")) {
        CHECK(json::Parse(attribute.value.AsString()).ok());
      }
    }
    if (type == "dashboard") {
      const json::Value panels = Inner(object, {"panelsJSON"});
      for (size_t i = 0; i < panels.size(); ++i) {
        CHECK(panels.At(i)["panelRefName"] == object["references"].At(i)["name"]);
        CHECK(panels.At(i)["gridData"]["i"] == panels.At(i)["panelIndex"]);
      }
    }
  }
}

class SavedObjectsFixture : public MirrorFixture {
 protected:
  void Pod(FakeSlice& cache, const std::string& name, const std::string& image,
           const std::string& status) {
    ++version_;
    cache.Put(
        name, version_,
        absl::StrCat(R"({"metadata":{"namespace":"shop","name":")", name, R"(","uid":")", name,
                     R"(","resourceVersion":")", version_, R"("},"spec":{"containers":[{"image":")",
                     image, R"("}]},"status":)", status, "}"));
  }
  // The names of the documents that the query finds, in order.
  std::string Found(const std::string& query) {
    json::Value body = json::Value::Object({{"size", 100}});
    body.Set({"query", "query_string", "query"}, query.empty() ? "*" : query);
    body.Set("sort", json::Value::Array({json::Value::Object({{"name", "asc"}})}));
    const json::Value answer = Search(body);
    std::vector<std::string> names;
    for (const json::Value& hit : answer.Get({"hits", "hits"}).items()) {
      names.push_back(hit.Get({"_source", "name"}).ToString());
    }
    return absl::StrJoin(names, " ");
  }
  // "value=count" of the chart's rows, levels joined by '/'.
  std::string Counted(const json::Value& chart) {
    const std::vector<std::string> fields = FieldsOf(chart);
    json::Value aggs;
    for (auto field = fields.rbegin(); field != fields.rend(); ++field) {
      json::Value outer = json::Value::Object();
      outer.Set({"by", "terms", "field"}, *field);
      outer.Set({"by", "terms", "order", "_key"}, "asc");
      if (!aggs.is_null()) outer.Set({"by", "aggs"}, aggs);
      aggs = outer;
    }
    json::Value body = json::Value::Object({{"size", 0}, {"track_total_hits", true}});
    const std::string query = QueryTextOf(chart);
    body.Set({"query", "query_string", "query"}, query.empty() ? "*" : query);
    if (!aggs.is_null()) body.Set("aggs", aggs);
    const json::Value answer = Search(body);
    if (aggs.is_null()) return absl::StrCat(answer.Get({"hits", "total", "value"}).AsInt());
    std::vector<std::string> rows;
    AppendRows(answer.Get({"aggregations", "by"}), "", rows);
    return absl::StrJoin(rows, " ");
  }

 private:
  json::Value Search(const json::Value& body) {
    const std::string path = absl::StrCat("/", server_.prefix(), "-*/_search");
    const base::HttpResponse answer = server_.Ask("POST", path, json::Write(body));
    INFO(answer.body);
    REQUIRE(answer.code == 200);
    return json::Parse(answer.body).value();
  }
  static void AppendRows(const json::Value& level, const std::string& before,
                         std::vector<std::string>& rows) {
    for (const json::Value& bucket : level["buckets"].items()) {
      const json::Value& key =
          bucket.Has("key_as_string") ? bucket["key_as_string"] : bucket["key"];
      const std::string value = absl::StrCat(before, before.empty() ? "" : "/", key.ToString());
      if (bucket.Has("by")) {
        AppendRows(bucket["by"], value, rows);
      } else {
        rows.push_back(absl::StrCat(value, "=", bucket["doc_count"].AsInt()));
      }
    }
  }
  int version_ = 0;
};

// OpenSearch Dashboards itself comes from no registry of packages: this is the part of its import
// that depends on what is imported.
TEST_CASE_METHOD(SavedObjectsFixture, "The index of Dashboards takes each saved object",
                 "[.real-opensearch]") {
  const std::string index = absl::StrCat("/", server_.prefix(), "dashboards");
  const json::Value body = json::Value::Object({{"mappings", DashboardsMapping()}});
  REQUIRE(server_.Ask("PUT", index, json::Write(body)).code == 200);
  for (const json::Value& object : SavedObjects()) {
    const std::string id = absl::StrCat(object["type"].AsString(), ":", object["id"].AsString());
    const auto put =
        server_.Ask("PUT", absl::StrCat(index, "/_doc/", id), json::Write(Imported(object)));
    INFO(id << " " << put.body);
    CHECK(put.code == 201);
  }
  // What it does not know is refused.
  json::Value other = Imported(SavedObjects()[1]);
  other.Set({"search", "colour"}, "red");
  CHECK(server_.Ask("PUT", absl::StrCat(index, "/_doc/x"), json::Write(other)).code == 400);
}

TEST_CASE_METHOD(SavedObjectsFixture, "Each saved query finds what it should",
                 "[.real-opensearch]") {
  const std::string ready = R"("conditions":[{"type":"Ready","status":"True"}])";
  const std::string unready = R"("conditions":[{"type":"Ready","status":"False"}])";
  Pod(*cache1_, "good", "web:1", absl::StrCat(R"({"phase":"Running",)", ready, "}"));
  Pod(*cache1_, "done", "job:1", absl::StrCat(R"({"phase":"Succeeded",)", unready, "}"));
  Pod(*cache1_, "waits", "web:1", R"({"phase":"Pending","reason":"Unschedulable"})");
  Pod(*cache2_, "crashes", "db:1",
      absl::StrCat(R"({"phase":"Running",)", unready,
                   R"(,"containerStatuses":[{"restartCount":7,"state":)",
                   R"({"waiting":{"reason":"CrashLoopBackOff"}}}]})"));
  mirror_->Synced(pods1_, cache1_);
  mirror_->Synced(pods2_, cache2_);
  const search::Slice nodes = {"member1", {"", "v1", "Node"}};
  const auto cache = std::make_shared<FakeSlice>();
  Pod(*cache, "node", "", absl::StrCat("{", ready, "}"));
  mirror_->Synced(nodes, cache);
  // A Pod of another group is none.
  const search::Slice others = {"member1", {"x.io", "v1", "Pod"}};
  const auto other = std::make_shared<FakeSlice>();
  Pod(*other, "other", "x:1", R"({"phase":"Failed"})");
  mirror_->Synced(others, other);
  Settle();
  server_.Ask("POST", absl::StrCat("/", server_.prefix(), "-*/_refresh"));

  const std::map<std::string, std::string> expected = {
      {"karmada-unhealthy-pods", "crashes waits"},
      {"karmada-objects", "6"},
      {"karmada-objects-by-cluster", "member1/Node=1 member1/Pod=4 member2/Pod=1"},
      {"karmada-pods-by-phase",
       "member1/Pending=1 member1/Running=1 member1/Succeeded=1 member2/Running=1"},
      {"karmada-nodes", "member1/true=1"},
      {"karmada-unhealthy-pods-by-reason", "CrashLoopBackOff=1 Unschedulable=1"},
      {"karmada-restarts", "member2/shop=1"},
      {"karmada-images", "db:1=1 job:1=1 web:1=2"},
      {"karmada-images-by-cluster", "member1/job:1=1 member1/web:1=2 member2/db:1=1"},
  };
  size_t checked = 0;
  for (const json::Value& object : SavedObjects()) {
    const std::string type = object["type"].ToString();
    const auto wanted = expected.find(object["id"].ToString());
    if (type != "search" && type != "visualization") continue;
    INFO(object["id"].AsString());
    REQUIRE(wanted != expected.end());
    CHECK((type == "search" ? Found(QueryTextOf(object)) : Counted(object)) == wanted->second);
    ++checked;
  }
  CHECK(checked == expected.size());
}

}  // namespace
}  // namespace tests
