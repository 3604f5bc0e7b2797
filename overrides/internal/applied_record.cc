// How it works. Upstream writes its Go types, whose fields come in the order of their declaration,
// not sorted like the members of json::Value. The tables below have that order, and say what is
// left out when it is empty.
#include "overrides/internal/applied_record.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/types/span.h"
#include "base/json.h"

namespace overrides {
namespace {

using json::Value;

struct Field;
using Fields = absl::Span<const Field>;

// A field of one of upstream's types.
struct Field {
  absl::string_view name;
  enum class Kind {
    kText,          // A string; "" when it is absent.
    kOptionalText,  // A string that is left out when it is empty.
    kAny,           // Any value; null when it is absent.
    kOptional,      // A list of strings that is left out when it is empty.
    kObject,        // An object of `fields`, left out when it is absent.
    kList,          // A list of such objects, left out when it is empty.
  } kind;
  Fields fields = {};
};
using enum Field::Kind;

constexpr Field kPlaintext[] = {{"path", kText}, {"operator", kText}, {"value", kAny}};
constexpr Field kPredicate[] = {{"path", kText}};
constexpr Field kImage[] = {{"predicate", kObject, kPredicate},
                            {"component", kText},
                            {"operator", kText},
                            {"value", kOptionalText}};
constexpr Field kWords[] = {{"containerName", kText}, {"operator", kText}, {"value", kOptional}};
constexpr Field kMap[] = {{"operator", kText}, {"value", kAny}};
constexpr Field kTextPatch[] = {{"subPath", kText}, {"operator", kText}, {"value", kAny}};
constexpr Field kFieldText[] = {
    {"fieldPath", kText}, {"json", kList, kTextPatch}, {"yaml", kList, kTextPatch}};
constexpr Field kOverriders[] = {
    {"plaintext", kList, kPlaintext},     {"imageOverrider", kList, kImage},
    {"commandOverrider", kList, kWords},  {"argsOverrider", kList, kWords},
    {"labelsOverrider", kList, kMap},     {"annotationsOverrider", kList, kMap},
    {"fieldOverrider", kList, kFieldText}};

std::string Json(const Value& value) { return json::Write(value, {.html_escape = true}); }

std::string ObjectText(const Value& value, Fields fields);

// Returns the text of the field's value; "" when the field is left out.
std::string FieldText(const Value& value, const Field& field) {
  switch (field.kind) {
    case kText:
      return Json(value.AsString());
    case kOptionalText:
      return value.AsString().empty() ? "" : Json(value);
    case kAny:
      return Json(value);
    case kOptional:
      return value.empty() ? "" : Json(value);
    case kObject:
      return value.is_null() ? "" : ObjectText(value, field.fields);
    case kList:
      break;
  }
  if (value.empty()) return "";
  return absl::StrCat("[",
                      absl::StrJoin(value.items(), ",",
                                    [&](std::string* out, const Value& v) {
                                      absl::StrAppend(out, ObjectText(v, field.fields));
                                    }),
                      "]");
}

std::string ObjectText(const Value& value, Fields fields) {
  std::string text = "{";
  for (const Field& field : fields) {
    const std::string member = FieldText(value[field.name], field);
    if (member.empty()) continue;
    absl::StrAppend(&text, text.size() > 1 ? "," : "", "\"", field.name, "\":", member);
  }
  return text + "}";
}

void AppendItem(std::string* out, const AppliedRule& applied) {
  absl::StrAppend(out, R"({"policyName":)", Json(applied.policy->name()), R"(,"overriders":)",
                  ObjectText(applied.rule->overriders, kOverriders), "}");
}

}  // namespace

size_t RecordedBytes(const AppliedRule& applied) {
  std::string item;
  AppendItem(&item, applied);
  return item.size() + 1;  // With the comma or bracket behind it.
}

std::string AppliedRecord(std::vector<AppliedRule> rules) {
  if (rules.empty()) return "";
  std::stable_sort(rules.begin(), rules.end(), [](const AppliedRule& a, const AppliedRule& b) {
    return a.policy->name() < b.policy->name();
  });
  return absl::StrCat("[", absl::StrJoin(rules, ",", AppendItem), "]");
}

}  // namespace overrides
