// A file is split into documents by lines, so that a mistake in one document costs only this
// document, and every case knows its line. Each document is parsed as YAML and read into a case;
// whatever is wrong with it becomes a problem with its line, and the rest of the file is read all
// the same. Running a case is in case_run.cc. Nothing is kept.

#include "interpreter/customized/case_file.h"

#include <algorithm>
#include <array>
#include <optional>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "base/status.h"
#include "base/yaml.h"
#include "interpreter/typed_results.h"

namespace interpreter::customized {

namespace {

// One document of a YAML text.
struct Document {
  int line = 0;    // The first line with content, counted from 1.
  int before = 0;  // The number of lines of the file before this document.
  std::string text;
};

bool IsMarker(absl::string_view line) {
  return absl::StartsWith(line, "---") && (line.size() == 3 || absl::ascii_isspace(line[3]));
}

bool SaysSomething(absl::string_view line) {
  if (absl::StartsWith(line, "%")) return false;  // A directive, such as "%YAML 1.2".
  if (IsMarker(line)) line.remove_prefix(3);
  line = absl::StripAsciiWhitespace(line);
  return !line.empty() && line[0] != '#' && line != "...";
}

// Lines that begin with "---" separate documents, wherever they stand (YAML 1.2, 9.1.2).
std::vector<Document> SplitDocuments(absl::string_view text) {
  std::vector<Document> documents(1);
  int number = 0;
  for (const absl::string_view line : absl::StrSplit(text, '\n')) {
    if (IsMarker(line)) documents.push_back({.before = number});
    ++number;
    Document& document = documents.back();
    if (document.line == 0 && SaysSomething(line)) document.line = number;
    absl::StrAppend(&document.text, line, "\n");
  }
  documents.erase(std::remove_if(documents.begin(), documents.end(),
                                 [](const Document& document) { return document.line == 0; }),
                  documents.end());
  return documents;
}

constexpr std::array<absl::string_view, 8> kKeys = {"name",          "description", "operation",
                                                    "desiredObj",    "observedObj", "statusItems",
                                                    "inputReplicas", "output"};

absl::Status Invalid(absl::string_view message) { return absl::InvalidArgumentError(message); }

absl::StatusOr<std::string> ReadText(const json::Value& document, absl::string_view key) {
  const json::Value& value = document[key];
  if (value.is_null() || value.is_string()) return value.ToString();
  return Invalid(absl::StrCat(key, " must be a string"));
}

absl::StatusOr<kube::Object> ReadObject(const json::Value& document, absl::string_view key) {
  const json::Value& value = document[key];
  if (value.is_null() || value.is_object()) return kube::Object(value);
  return Invalid(absl::StrCat(key, " must be an object"));
}

absl::StatusOr<Question> ReadInput(const json::Value& document) {
  Question input;
  ASSIGN_OR_RETURN(const std::string operation, ReadText(document, "operation"));
  const std::optional<Operation> named = OperationNamed(operation);
  if (!named.has_value())
    return Invalid(absl::StrCat("no operation is called \"", operation, "\""));
  input.operation = *named;
  ASSIGN_OR_RETURN(input.object, ReadObject(document, "desiredObj"));
  ASSIGN_OR_RETURN(input.observed, ReadObject(document, "observedObj"));
  absl::StatusOr<json::Value> items = ReadAggregatedItems(document["statusItems"]);
  if (!items.ok()) return base::Annotate(items.status(), "statusItems");
  input.items = *std::move(items);
  ASSIGN_OR_RETURN(const std::optional<int64_t> replicas,
                   json::FindInt(document, {"inputReplicas"}));
  input.replicas = replicas.value_or(0);
  return input;
}

absl::StatusOr<Case> ReadCase(const json::Value& document) {
  if (!document.is_object()) return Invalid("a case must be an object");
  for (const json::Member& member : document.members()) {
    if (std::find(kKeys.begin(), kKeys.end(), member.name()) == kKeys.end()) {
      return Invalid(absl::StrCat("unknown key ", member.name()));
    }
  }
  Case c;
  ASSIGN_OR_RETURN(c.name, ReadText(document, "name"));
  ASSIGN_OR_RETURN(c.description, ReadText(document, "description"));
  ASSIGN_OR_RETURN(c.input, ReadInput(document));
  c.output = document["output"];
  if (!c.output.is_null() && !c.output.is_object()) return Invalid("output must be an object");
  if (const json::Value* error = c.output.Find("error"); error != nullptr) {
    if (error->AsString().empty()) return Invalid("output.error must be a text");
    if (c.output.size() > 1) return Invalid("output.error stands alone: what fails has no results");
  }
  return c;
}

absl::StatusOr<json::Value> ParseDocument(const Document& document) {
  absl::StatusOr<json::Value> value = yaml::Parse(document.text);
  if (value.ok() || document.before == 0) return value;
  // Parse again with empty lines in front, so that the error counts lines as the file does. Only
  // texts with errors are parsed like that: for all documents it would take quadratic time.
  return yaml::Parse(std::string(document.before, '\n') + document.text);
}

}  // namespace

CaseFile ParseCaseFile(absl::string_view text) {
  CaseFile file;
  absl::ConsumePrefix(&text, "\xef\xbb\xbf");  // A byte order mark.
  for (const Document& document : SplitDocuments(text)) {
    absl::StatusOr<json::Value> value = ParseDocument(document);
    absl::StatusOr<Case> c = value.ok() ? ReadCase(*value) : value.status();
    if (!c.ok()) {
      file.problems.push_back({document.line, std::string(c.status().message())});
      continue;
    }
    c->line = document.line;
    file.cases.push_back(*std::move(c));
  }
  return file;
}

}  // namespace interpreter::customized
