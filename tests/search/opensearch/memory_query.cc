#include "tests/search/opensearch/memory_query.h"

#include <algorithm>

#include "absl/strings/strip.h"

namespace tests {
namespace {

std::string TextOf(const json::Value& value) {
  return value.is_string() ? value.ToString() : json::Write(value);
}

void Collect(const json::Value& value, absl::string_view path, std::vector<std::string>& out) {
  for (const json::Value& item : value.items()) Collect(item, path, out);
  if (value.is_array() || value.is_null()) return;
  if (!value.is_object()) {
    if (path.empty()) out.push_back(TextOf(value));
    return;
  }
  for (const json::Member& member : value.members()) {
    absl::string_view rest = path;
    if (rest.empty() || rest == member.name()) {
      Collect(member.value, "", out);
    } else if (absl::ConsumePrefix(&rest, member.name()) && absl::ConsumePrefix(&rest, ".")) {
      Collect(member.value, rest, out);
    }
  }
}

bool HasOneOf(const json::Value& document, const json::Member& field) {
  std::vector<json::Value> wanted(field.value.items().begin(), field.value.items().end());
  if (!field.value.is_array()) wanted.push_back(field.value);
  const std::vector<std::string> texts = TextsAt(document, field.name());
  return std::any_of(wanted.begin(), wanted.end(), [&](const json::Value& value) {
    return std::find(texts.begin(), texts.end(), TextOf(value)) != texts.end();
  });
}

}  // namespace

std::vector<std::string> TextsAt(const json::Value& document, absl::string_view path) {
  std::vector<std::string> out;
  Collect(document, path, out);
  return out;
}

bool IsFound(const json::Value& query, const json::Value& document) {
  if (query.is_null()) return true;
  const json::Member& form = query.members()[0];
  if (form.name() == "exists") {
    return !TextsAt(document, form.value["field"].AsString()).empty();
  }
  if (form.name() == "term" || form.name() == "terms") {
    return HasOneOf(document, form.value.members()[0]);
  }
  const auto found = [&](const json::Value& inner) { return IsFound(inner, document); };
  const auto filter = form.value["filter"].items();
  const auto must_not = form.value["must_not"].items();
  return std::all_of(filter.begin(), filter.end(), found) &&
         std::none_of(must_not.begin(), must_not.end(), found);
}

}  // namespace tests
