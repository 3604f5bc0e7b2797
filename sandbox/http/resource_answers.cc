#include "sandbox/http/resource_answers.h"

#include <utility>

#include "absl/strings/str_cat.h"

namespace sandbox {

using kube::server::AnswerForm;
using kube::server::AnswerOf;
using kube::server::PartialMetadataOf;
using kube::server::TableOf;

namespace {

// The Scale of an object has no columns of its own.
bool IsScale(const ResourceCall& call) { return call.info.subresource == "scale"; }

std::string ListKind(const ResourceInfo& info) { return info.resource.gvk.kind + "List"; }

// Items of built-in lists do not repeat apiVersion and kind of the list, as typed encoders leave
// them out.
json::Value Item(const ResourceInfo& info, const kube::ObjectPtr& object) {
  json::Value item = object->root();
  if (!info.custom) {
    item.Erase("apiVersion");
    item.Erase("kind");
  }
  return item;
}

json::Value PlainList(const ResourceInfo& info, const ListPage& page) {
  json::Value items = json::Value::Array();
  for (const kube::ObjectPtr& object : page.objects) items.Append(Item(info, object));
  return json::Value::Object({{"kind", ListKind(info)},
                              {"apiVersion", info.resource.gvk.ApiVersion()},
                              {"metadata", page.Metadata()},
                              {"items", std::move(items)}});
}

json::Value PartialList(const ListPage& page, const std::string& version) {
  json::Value items = json::Value::Array();
  for (const kube::ObjectPtr& object : page.objects) {
    items.Append(PartialMetadataOf(*object, version));
  }
  return json::Value::Object({{"kind", "PartialObjectMetadataList"},
                              {"apiVersion", absl::StrCat("meta.k8s.io/", version)},
                              {"metadata", page.Metadata()},
                              {"items", std::move(items)}});
}

json::Value ObjectBody(const ResourceCall& call, const kube::ObjectPtr& object) {
  const AnswerForm& form = call.form;
  if (form.kind == AnswerForm::Kind::kTable && !IsScale(call)) {
    const json::Value metadata =
        json::Value::Object({{"resourceVersion", object->resource_version()}});
    return TableOf(*call.resource->Printer(), {object}, metadata,
                   {call.include, true, form.version});
  }
  if (form.kind == AnswerForm::Kind::kPartial) return PartialMetadataOf(*object, form.version);
  return object->root();
}

}  // namespace

base::HttpResponse ObjectAnswer(const ResourceCall& call, int code, const kube::ObjectPtr& object,
                                const std::vector<std::string>& warnings) {
  if (call.outcome != nullptr) {
    call.outcome->key = object->key();
    call.outcome->version = kube::ResourceVersionOf(*object);
  }
  base::HttpResponse response = AnswerOf(code, ObjectBody(call, object), call.form);
  for (const std::string& warning : warnings) {
    response.headers.emplace_back("Warning", kube::server::WarningHeader(warning));
  }
  return response;
}

base::HttpResponse ListAnswer(const ResourceCall& call, const ListPage& page) {
  if (call.outcome != nullptr) call.outcome->version = page.version;
  switch (call.form.kind) {
    case AnswerForm::Kind::kTable:
      return AnswerOf(200,
                      TableOf(*call.resource->Printer(), page.objects, page.Metadata(),
                              {call.include, true, call.form.version}),
                      call.form);
    case AnswerForm::Kind::kPartial:
      return AnswerOf(200, PartialList(page, call.form.version), call.form);
    case AnswerForm::Kind::kPlain:
    case AnswerForm::Kind::kDiscovery:
      break;
  }
  return AnswerOf(200, PlainList(*call.resource, page), call.form);
}

base::HttpResponse DeletedAnswer(const ResourceCall& call, const kube::Object& object) {
  const ResourceInfo& info = *call.resource;
  if (call.outcome != nullptr) {
    call.outcome->key = object.key();
    // The object is gone; the version is that of its deletion, unless this was a dry run.
    if (call.outcome->changed()) call.outcome->version = call.outcome->stored.back();
  }
  json::Value details = json::Value::Object(
      {{"name", object.name()}, {"kind", info.resource.plural}, {"uid", object.uid()}});
  if (!info.resource.gvk.group.empty()) details.Set("group", info.resource.gvk.group);
  AnswerForm form = call.form;
  form.kind = AnswerForm::Kind::kPlain;
  return AnswerOf(200,
                  json::Value::Object({{"kind", "Status"},
                                       {"apiVersion", "v1"},
                                       {"metadata", json::Value::Object()},
                                       {"status", "Success"},
                                       {"details", std::move(details)}}),
                  form);
}

}  // namespace sandbox
