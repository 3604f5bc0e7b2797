// The requests of tests/data/fields/requests.yaml, sent to a server of the sandbox: the answers are
// those of a kube-apiserver.
#include <algorithm>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include <catch2/catch.hpp>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "base/files.h"
#include "tests/sandbox/http/front_end_fixture.h"

namespace sandbox {
namespace {

std::string Text(const std::string& name) {
  return base::ReadFile(absl::StrCat("tests/data/fields/", name)).value();
}

struct Form {
  const char* word;
  const char* method;
  const char* content_type;
};
constexpr Form kForms[] = {{"post", "POST", "application/json"},
                           {"put", "PUT", "application/json"},
                           {"get", "GET", ""},
                           {"apply", "PATCH", "application/apply-patch+yaml"},
                           {"merge", "PATCH", "application/merge-patch+json"},
                           {"json", "PATCH", "application/json-patch+json"},
                           {"strategic", "PATCH", "application/strategic-merge-patch+json"}};

FrontEndFixture::Call CallOf(const json::Value& step) {
  FrontEndFixture::Call call;
  for (const Form& form : kForms) {
    if (!step.Has(form.word)) continue;
    call.method = form.method;
    call.target = step[form.word].ToString();
    if (*form.content_type != '\0') call.headers = {{"content-type", form.content_type}};
  }
  std::vector<std::string> query;
  if (step.Has("by")) query.push_back(absl::StrCat("fieldManager=", step["by"].AsString()));
  if (step.Has("query")) query.push_back(step["query"].ToString());
  if (!query.empty()) absl::StrAppend(&call.target, "?", absl::StrJoin(query, "&"));
  if (step.Has("body")) call.body = json::Write(step["body"]);
  return call;
}

// Removes members that are empty or zero, which servers write as they like.
json::Value Full(const json::Value& value) {
  if (value.is_array()) {
    json::Value out = json::Value::Array();
    for (const json::Value& item : value.items()) out.Append(Full(item));
    return out;
  }
  if (!value.is_object()) return value;
  json::Value out = json::Value::Object();
  for (const json::Member& member : value.members()) {
    json::Value full = Full(member.value);
    const bool is_container = full.is_object() || full.is_array();
    const bool is_none =
        full.is_null() || full == 0 || full == false || (is_container && full.empty());
    if (!is_none) out.Set(member.name(), std::move(full));
  }
  return out;
}

json::Value OfError(const Reply& reply) {
  std::vector<json::Value> causes;
  for (const json::Value& cause : reply.body["details"]["causes"].items()) {
    causes.push_back(
        json::Value::Strings({cause["field"].ToString(), cause["message"].ToString()}));
  }
  std::sort(causes.begin(), causes.end(), [](const json::Value& a, const json::Value& b) {
    return json::Write(a) < json::Write(b);
  });
  return json::Value::Object({{"code", reply.code},
                              {"message", reply.body["message"].ToString()},
                              {"causes", json::Value::OfItems(std::move(causes))}});
}

// Returns the entries without times, and in an order that does not depend on who came in the same
// second.
json::Value Owners(const json::Value& metadata) {
  std::vector<json::Value> entries;
  for (json::Value entry : metadata["managedFields"].items()) {
    if (entry.Has("time")) entry.Set("time", "set");
    entries.push_back(std::move(entry));
  }
  const auto key = [](const json::Value& entry) {
    return std::make_tuple(entry["operation"].AsString(), entry["manager"].AsString(),
                           entry["apiVersion"].AsString(), entry["subresource"].AsString());
  };
  std::sort(entries.begin(), entries.end(),
            [&key](const json::Value& a, const json::Value& b) { return key(a) < key(b); });
  return json::Value::OfItems(std::move(entries));
}

json::Value OfReply(const Reply& reply) {
  if (reply.code >= 400) return OfError(reply);
  json::Value out = json::Value::Object();
  for (const char* part : {"data", "rules", "spec", "status"}) {
    json::Value value = reply.body[part];
    if (std::string(part) == "spec") {
      value.Erase("clusterIP");
      value.Erase("clusterIPs");
    }
    value = std::string(part) == "data" ? value : Full(value);
    if (!value.empty()) out.Set(part, std::move(value));
  }
  json::Value metadata = json::Value::Object();
  for (const char* part :
       {"annotations", "finalizers", "labels", "managedFields", "ownerReferences"}) {
    const json::Value& value = reply.body["metadata"][part];
    if (!value.is_null()) metadata.Set(part, value);
  }
  if (metadata.Has("managedFields")) metadata.Set("managedFields", Owners(metadata));
  if (!metadata.empty()) out.Set("metadata", std::move(metadata));
  return out;
}

}  // namespace

TEST_CASE("owners of fields are those that a kube-apiserver notes") {
  const auto cases = yaml::Parse(Text("requests.yaml"));
  const auto answers = json::Parse(Text("answers.json"));
  const auto definition = yaml::Parse(Text("definition.yaml"));
  REQUIRE(cases.ok());
  REQUIRE(answers.ok());
  REQUIRE(definition.ok());
  FrontEndFixture f;
  REQUIRE(
      f.backend
          .Create(kNamespaces, kube::Object::Make({"", "v1", "Namespace"}, {"", "fields"}), false)
          .ok());
  REQUIRE(f.backend.Create(kDefinitions, kube::Object(*definition), false).ok());
  for (const json::Value& one : cases->items()) {
    const std::string name = one["case"].ToString();
    const json::Value& wanted = (*answers)[name];
    REQUIRE(wanted.size() == one["steps"].size());
    for (size_t i = 0; i < wanted.size(); ++i) {
      INFO(name << ", step " << i + 1 << ": " << json::Write(one["steps"].At(i)));
      CHECK(json::Write(OfReply(f.Send(CallOf(one["steps"].At(i)))), {.indent = 1}) ==
            json::Write(wanted.At(i), {.indent = 1}));
    }
  }
}

}  // namespace sandbox
