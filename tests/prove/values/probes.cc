// The walk goes down the schema, and the object beside it as far as it has what the schema
// describes. For each property it lists candidates by type, format and bounds, and keeps those
// that make another object. Elements of lists are represented by the first one, members of maps by
// the first one that there is.
//
// Where a path leads through something that the object lacks, the subject's sample for it is put
// there, or else the least that the schema asks for.

#include "tests/prove/values/probes.h"

#include <algorithm>
#include <cstdint>
#include <limits>
#include <set>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"

namespace prove {
namespace {

constexpr char kAbsent[] = "absent", kTwice[] = "twice", kLong[] = "long ",
               kTogether[] = "together ";
constexpr char kSomeKey[] = "some";
constexpr int64_t kLongName = 253, kLongText = 5000;
constexpr int kMostText = 100'000;

// One step down: a member, or an element.
struct Step {
  std::string name;
  int index = -1;  // Of an element; -1 for a member.
};
using Steps = std::vector<Step>;

bool IsPlain(absl::string_view name) {
  return !name.empty() && std::all_of(name.begin(), name.end(), [](char c) {
    return absl::ascii_isalnum(static_cast<unsigned char>(c)) || c == '-' || c == '_';
  });
}

std::string Below(absl::string_view path, absl::string_view name) {
  if (!IsPlain(name)) return absl::StrCat(path, "[", json::Write(json::Value(name)), "]");
  return path.empty() ? std::string(name) : absl::StrCat(path, ".", name);
}

// Takes `["name"]` or `[0]` off the text.
absl::StatusOr<Step> TakeBracket(absl::string_view& text) {
  // The quoted name may have brackets itself.
  size_t end = text.find(']');
  if (absl::StartsWith(text, "[\"")) end = text.find("\"]") + 1;
  if (end == absl::string_view::npos || end == 0) return absl::InvalidArgumentError("bracket");
  const absl::string_view inner = text.substr(1, end - 1);
  text.remove_prefix(end + 1);
  Step step;
  if (absl::SimpleAtoi(inner, &step.index) && step.index >= 0) return step;
  const absl::StatusOr<json::Value> name = json::Parse(inner);
  if (!name.ok() || !name->is_string()) return absl::InvalidArgumentError("bracket");
  return Step{.name = name->ToString()};
}

absl::StatusOr<Steps> ReadPath(absl::string_view text) {
  Steps steps;
  while (!text.empty()) {
    if (text[0] == '[') {
      absl::StatusOr<Step> step = TakeBracket(text);
      if (!step.ok()) return step.status();
      steps.push_back(*std::move(step));
      continue;
    }
    if (!steps.empty() && !absl::ConsumePrefix(&text, ".")) {
      return absl::InvalidArgumentError(absl::StrCat("path: ", text));
    }
    const size_t end = std::min(text.find_first_of(".["), text.size());
    if (end == 0) return absl::InvalidArgumentError("path with an empty name");
    steps.push_back({.name = std::string(text.substr(0, end))});
    text.remove_prefix(end);
  }
  if (steps.empty()) return absl::InvalidArgumentError("an empty path");
  return steps;
}

// Metadata has no schema in definitions.
const json::Value& MetadataSchema() {
  static const auto* const schema = [] {
    json::Value texts = json::Value::Object({{"type", "object"}});
    texts.Set({"additionalProperties", "type"}, "string");
    auto* all = new json::Value(json::Value::Object({{"type", "object"}}));
    all->Set({"properties", "labels"}, texts);
    all->Set({"properties", "annotations"}, texts);
    return all;
  }();
  return *schema;
}

// Returns the schema one step down; null when there is none.
const json::Value& SchemaBelow(const json::Value& schema, const Step& step, bool is_root) {
  if (step.index >= 0) return schema["items"];
  if (is_root && step.name == "metadata") return MetadataSchema();
  const json::Value* property = schema["properties"].Find(step.name);
  return property != nullptr ? *property : schema["additionalProperties"];
}

bool IsQuantity(const json::Value& schema) { return schema["x-kubernetes-int-or-string"].AsBool(); }

bool IsAnything(const json::Value& schema) {
  return schema["type"].is_null() && !IsQuantity(schema);
}

class Sampler {
 public:
  explicit Sampler(const Subject& subject) : samples_(subject.samples) {}

  // Returns a value for what is at `path` and missing.
  json::Value At(const json::Value& schema, const std::string& path) const {
    if (const json::Value* sample = samples_.Find(path)) return *sample;
    const std::string type = schema["type"].ToString();
    if (const json::Value* otherwise = schema.Find("default")) return *otherwise;
    if (!schema["enum"].empty()) return schema["enum"].At(0);
    if (type == "array")
      return json::Value::Array({At(schema["items"], absl::StrCat(path, "[0]"))});
    if (type == "object") return Object(schema, path);
    if (type == "integer" || type == "number")
      return std::max<int64_t>(schema["minimum"].AsInt(), 1);
    if (type == "boolean") return true;
    if (schema["format"].AsString() == "date-time") return "2026-01-01T00:00:00Z";
    if (IsQuantity(schema)) return "1";
    return kSomeKey;
  }

 private:
  json::Value Object(const json::Value& schema, const std::string& path) const {
    json::Value object = json::Value::Object();
    for (const json::Value& name : schema["required"].items()) {
      const absl::string_view text = name.AsString();
      object.Set(text, At(schema["properties"][text], Below(path, text)));
    }
    return object;
  }

  const json::Value& samples_;
};

// Returns the place of the last step's container, with all that leads there.
absl::StatusOr<json::Value*> Container(const Subject& subject, json::Value& object,
                                       const Steps& steps, const json::Value** last_schema) {
  const Sampler sampler(subject);
  const json::Value* schema = &subject.schema;
  json::Value* at = &object;
  std::string path;
  for (size_t i = 0;; ++i) {
    const Step& step = steps[i];
    const json::Value& below = SchemaBelow(*schema, step, i == 0);
    path = step.index >= 0 ? absl::StrCat(path, "[", step.index, "]") : Below(path, step.name);
    if (below.is_null())
      return absl::InvalidArgumentError(absl::StrCat("no such property: ", path));
    schema = &below;
    *last_schema = schema;
    if (i + 1 == steps.size()) return at;
    if (step.index >= 0) {
      while (at->size() <= static_cast<size_t>(step.index)) at->Append(sampler.At(*schema, path));
      at = &at->MutableAt(step.index);
    } else {
      if (!at->Has(step.name) || (*at)[step.name].is_null()) {
        at->Set(step.name, sampler.At(*schema, path));
      }
      at = &at->Mutable(step.name);
    }
  }
}

absl::Status Erase(json::Value& container, const Step& last) {
  if (last.index < 0) {
    container.Erase(last.name);
  } else if (container.size() > static_cast<size_t>(last.index)) {
    container.EraseAt(last.index);
  }
  return absl::OkStatus();
}

absl::Status Store(json::Value& container, const Step& last, json::Value value) {
  if (last.index < 0) {
    container.Set(last.name, std::move(value));
    return absl::OkStatus();
  }
  while (container.size() <= static_cast<size_t>(last.index)) container.Append(json::Value());
  container.MutableAt(last.index) = std::move(value);
  return absl::OkStatus();
}

json::Value Merged(const json::Value& object, const json::Value& patch) {
  if (!patch.is_object()) return patch;
  json::Value merged = object.is_object() ? object : json::Value::Object();
  for (const json::Member& m : patch.members()) {
    if (m.value.is_null()) {
      merged.Erase(m.name());
    } else {
      merged.Set(m.name(), Merged(merged[m.name()], m.value));
    }
  }
  return merged;
}

// Lists the probes of one subject.
class Walk {
 public:
  explicit Walk(const Subject& subject) : subject_(subject) {}

  std::vector<std::string> All() {
    Properties(subject_.schema, "", /*is_root=*/true);
    for (const json::Member& further : subject_.values.members()) {
      for (const json::Value& value : further.value.items()) {
        Add(absl::StrCat(further.name(), " ", Named(value)));
      }
    }
    for (const json::Value& patch : subject_.together.items()) {
      Add(absl::StrCat(kTogether, json::Write(patch)));
    }
    return std::move(probes_);
  }

 private:
  // Values of `values` are JSON, or the other forms as texts that begin with "!".
  static std::string Named(const json::Value& value) {
    absl::string_view text = value.AsString();
    if (absl::ConsumePrefix(&text, "!")) return std::string(text);
    return absl::StrCat("=", json::Write(value));
  }

  void Properties(const json::Value& schema, const std::string& path, bool is_root) {
    for (const json::Member& m : schema["properties"].members()) {
      if (is_root && (m.name() == "apiVersion" || m.name() == "kind" || m.name() == "metadata" ||
                      m.name() == "status")) {
        continue;
      }
      Property(m.value, Below(path, m.name()));
    }
  }

  void Property(const json::Value& schema, const std::string& path) {
    if (IsWithin(path)) Candidates(schema, path);
    Properties(schema, path, /*is_root=*/false);
    if (schema["items"].is_object()) Property(schema["items"], absl::StrCat(path, "[0]"));
    if (schema["additionalProperties"].is_object()) {
      Property(schema["additionalProperties"], Below(path, FirstKey(path)));
    }
  }

  bool IsWithin(const std::string& path) const {
    const auto& within = subject_.within;
    return within.empty() || std::any_of(within.begin(), within.end(), [&](const auto& prefix) {
             return absl::StartsWith(path, prefix);
           });
  }

  // Returns the name by which the members of a map are represented.
  std::string FirstKey(const std::string& path) const {
    const json::Value found = Find(path);
    if (!found.members().empty()) return std::string(found.members().front().name());
    const json::Value& sample = subject_.samples[path];
    return sample.members().empty() ? kSomeKey : std::string(sample.members().front().name());
  }

  json::Value Find(const std::string& path) const {
    const absl::StatusOr<Steps> steps = ReadPath(path);
    const json::Value* at = &subject_.object;
    for (size_t i = 0; steps.ok() && i < steps->size(); ++i) {
      const Step& step = (*steps)[i];
      at = step.index >= 0 ? &at->At(step.index) : &(*at)[step.name];
    }
    return *at;
  }

  void Candidates(const json::Value& schema, const std::string& path) {
    const auto value = [&](const json::Value& v) { Add(absl::StrCat(path, " =", json::Write(v))); };
    const std::string type = schema["type"].ToString();
    Add(absl::StrCat(path, " ", kAbsent));
    value(json::Value());
    if (const json::Value* otherwise = schema.Find("default")) value(*otherwise);
    for (const json::Value& one : schema["enum"].items()) value(one);
    if (type == "boolean") {
      value(true);
      value(false);
    }
    if (type == "integer" || type == "number") Numbers(schema, value);
    if (type == "string" && schema["enum"].empty()) Texts(schema, path, value);
    if (IsQuantity(schema)) Quantities(value);
    if (IsAnything(schema)) Anything(value);
    if (type == "object") Objects(schema, path, value);
    if (type == "array") {
      value(json::Value::Array());
      Add(absl::StrCat(path, " ", kTwice));
    }
  }

  template <class Value>
  static void Numbers(const json::Value& schema, const Value& value) {
    const bool small = schema["format"].AsString() == "int32";
    for (const int64_t number : {int64_t{0}, int64_t{1}, int64_t{-1}, int64_t{2}}) value(number);
    value(small ? std::numeric_limits<int32_t>::max() : std::numeric_limits<int64_t>::max());
    value(small ? std::numeric_limits<int32_t>::min() : std::numeric_limits<int64_t>::min());
    for (const char* bound : {"minimum", "maximum"}) {
      if (schema[bound].is_number()) value(schema[bound]);
    }
    if (schema["type"].AsString() == "number") value(0.1);
  }

  template <class Value>
  void Texts(const json::Value& schema, const std::string& path, const Value& value) {
    if (schema["format"].AsString() == "date-time") {
      for (const char* time : {"1970-01-01T00:00:00Z", "9999-12-31T23:59:59Z",
                               "2026-01-01T00:00:00.123456789+14:00"}) {
        value(time);
      }
      return;
    }
    for (const char* text : {"", " ", "other", "a/b", "Größe-日本-🚀", "two\nlines"}) value(text);
    int64_t longest = schema["maxLength"].AsInt(kLongText);
    Add(absl::StrCat(path, " ", kLong, longest));
    if (longest > kLongName) Add(absl::StrCat(path, " ", kLong, kLongName));
  }

  template <class Value>
  static void Quantities(const Value& value) {
    for (const char* text : {"0", "-1", "0.5", "1e3", "100m", "1n", "100Ei", "9223372036854775807",
                             "9223372036854775808"}) {
      value(text);
    }
    value(7);
  }

  template <class Value>
  static void Anything(const Value& value) {
    for (const json::Value& any :
         {json::Value(0), json::Value(-1.5), json::Value(""), json::Value("other"),
          json::Value(true), json::Value::Array(), json::Value::Object(),
          json::Value::Array({json::Value()}), json::Value::Object({{"", json::Value()}})}) {
      value(any);
    }
  }

  template <class Value>
  void Objects(const json::Value& schema, const std::string& path, const Value& value) {
    value(json::Value::Object());
    const json::Value& additional = schema["additionalProperties"];
    if (!additional.is_object()) return;
    const json::Value one = Sampler(subject_).At(additional, "");
    for (const std::string& key : {std::string(), std::string("other"), std::string("Größe"),
                                   std::string("a/b/c"), std::string(kLongName + 64, 'k')}) {
      json::Value map = Find(path);
      map.Set(key, one);
      value(map);
    }
  }

  void Add(const std::string& probe) {
    const absl::StatusOr<json::Value> changed = WithProbe(subject_, subject_.object, probe);
    if (!changed.ok() || *changed == subject_.object) return;
    if (known_.insert(probe).second) probes_.push_back(probe);
  }

  const Subject& subject_;
  std::vector<std::string> probes_;
  std::set<std::string> known_;
};

// Where the path of a probe ends: at the first space that is not in quotes.
size_t EndOfPath(absl::string_view probe) {
  bool quoted = false;
  for (size_t i = 0; i < probe.size(); ++i) {
    if (probe[i] == '"' && (i == 0 || probe[i - 1] != '\\')) quoted = !quoted;
    if (probe[i] == ' ' && !quoted) return i;
  }
  return absl::string_view::npos;
}

absl::Status Put(json::Value& container, const Step& last, absl::string_view value) {
  if (value == kAbsent) return Erase(container, last);
  if (absl::ConsumePrefix(&value, "=")) {
    absl::StatusOr<json::Value> parsed = json::Parse(value);
    if (!parsed.ok()) return parsed.status();
    return Store(container, last, *std::move(parsed));
  }
  int length = 0;
  absl::string_view digits = value;
  if (absl::ConsumePrefix(&digits, kLong) && absl::SimpleAtoi(digits, &length) && length >= 0 &&
      length <= kMostText) {
    return Store(container, last, std::string(length, 'x'));
  }
  if (value == kTwice && last.index < 0) {
    json::Value list = container[last.name];
    if (!list.empty()) list.Append(list.At(0));
    return Store(container, last, std::move(list));
  }
  return absl::InvalidArgumentError(absl::StrCat("not a value: ", value));
}

}  // namespace

std::vector<std::string> Probes(const Subject& subject) { return Walk(subject).All(); }

absl::StatusOr<json::Value> WithProbe(const Subject& subject, json::Value object,
                                      absl::string_view probe) {
  absl::string_view rest = probe;
  if (absl::ConsumePrefix(&rest, kTogether)) {
    const absl::StatusOr<json::Value> patch = json::Parse(rest);
    if (!patch.ok()) return patch.status();
    return Merged(object, *patch);
  }
  const size_t end = EndOfPath(probe);
  if (end == absl::string_view::npos) return absl::InvalidArgumentError("a path without a value");
  const absl::StatusOr<Steps> steps = ReadPath(probe.substr(0, end));
  if (!steps.ok()) return steps.status();
  const json::Value* schema = nullptr;
  const auto container = Container(subject, object, *steps, &schema);
  if (!container.ok()) return container.status();
  absl::string_view value = probe.substr(end + 1);
  if (value == kTwice && (*container)->operator[](steps->back().name).empty()) {
    (*container)
        ->Set(steps->back().name, Sampler(subject).At(*schema, std::string(probe.substr(0, end))));
  }
  const absl::Status put = Put(**container, steps->back(), value);
  if (!put.ok()) return put;
  return object;
}

}  // namespace prove
