#include "interpreter/native/type_table.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "base/status.h"

namespace interpreter::native {

namespace {

using Form = Type::Form;

constexpr absl::string_view kKubernetesTypes =
#include "interpreter/native/kubernetes_types.txt"
    ;  // NOLINT: the string is in the file.

struct Word {
  absl::string_view text;
  Form form;
};

constexpr Word kSimple[] = {{"string", Form::kString},     {"bool", Form::kBool},
                            {"int32", Form::kInt32},       {"int64", Form::kInt64},
                            {"quantity", Form::kQuantity}, {"time", Form::kTime},
                            {"raw", Form::kRaw},           {"intorstring", Form::kIntOrString}};
// Prefixes of the text of a type; the element's type follows.
constexpr Word kPrefixes[] = {{"*", Form::kPointer}, {"[]", Form::kList}, {"map:", Form::kMap}};

std::string KindKey(absl::string_view api_version, absl::string_view kind) {
  return absl::StrCat(api_version, " ", kind);
}

absl::Status BadLine(absl::string_view line) {
  return absl::InvalidArgumentError(absl::StrCat("type table: cannot read \"", line, "\""));
}

// A struct is named <group>/<version>.<Name>.
bool IsStructName(absl::string_view text) { return absl::StrContains(text, '/'); }

}  // namespace

const TypeTable& TypeTable::Kubernetes() {
  static const TypeTable& table = *new TypeTable(Parse(kKubernetesTypes).value());
  return table;
}

absl::StatusOr<TypeTable> TypeTable::Parse(absl::string_view text) {
  TypeTable table;
  Type* current = nullptr;
  for (const absl::string_view line : absl::StrSplit(text, '\n')) {
    if (line.empty() || line[0] == '#') continue;
    RETURN_IF_ERROR(table.AddLine(line, current));
  }
  RETURN_IF_ERROR(table.CheckStructs());
  return table;
}

absl::Status TypeTable::AddLine(absl::string_view line, Type*& current) {
  if (line[0] == ' ') return current == nullptr ? BadLine(line) : AddField(line, *current);
  const std::vector<absl::string_view> words = absl::StrSplit(line, ' ');
  const bool is_kind = words.size() == 4 && words[0] == "kind";
  if (!is_kind && words.size() != 1) return BadLine(line);
  if (!IsStructName(words.back())) return BadLine(line);
  ASSIGN_OR_RETURN(Type* const type, TypeOf(words.back()));
  if (is_kind) {
    kinds_[KindKey(words[1], words[2])] = type;
  } else {
    current = type;
  }
  return absl::OkStatus();
}

absl::Status TypeTable::AddField(absl::string_view line, Type& to) {
  const std::vector<absl::string_view> words = absl::StrSplit(line, ' ', absl::SkipEmpty());
  if (words.size() < 2) return BadLine(line);
  Field field;
  field.name = words[0];
  ASSIGN_OR_RETURN(field.type, TypeOf(words[1]));
  for (size_t i = 2; i < words.size(); ++i) {
    if (words[i] == "omitempty") {
      field.omit_empty = true;
    } else if (words[i] == "omitzero") {
      field.omit_zero = true;
    } else {
      return BadLine(line);
    }
  }
  to.fields.push_back(std::move(field));
  return absl::OkStatus();
}

absl::StatusOr<Type*> TypeTable::TypeOf(absl::string_view text) {
  if (const auto it = types_.find(text); it != types_.end()) return it->second.get();
  auto type = std::make_unique<Type>();
  const auto* const simple = std::find_if(std::begin(kSimple), std::end(kSimple),
                                          [&](const Word& word) { return word.text == text; });
  const auto* const prefix =
      std::find_if(std::begin(kPrefixes), std::end(kPrefixes),
                   [&](const Word& word) { return absl::StartsWith(text, word.text); });
  if (simple != std::end(kSimple)) {
    type->form = simple->form;
  } else if (prefix != std::end(kPrefixes)) {
    type->form = prefix->form;
    ASSIGN_OR_RETURN(type->element, TypeOf(text.substr(prefix->text.size())));
  } else if (IsStructName(text)) {
    type->form = Form::kStruct;
  } else {
    return absl::InvalidArgumentError(absl::StrCat("type table: no type \"", text, "\""));
  }
  return (types_[text] = std::move(type)).get();
}

absl::Status TypeTable::CheckStructs() const {
  for (const auto& [text, type] : types_) {
    if (type->form == Form::kStruct && type->fields.empty()) {
      return absl::InvalidArgumentError(absl::StrCat("type table: ", text, " has no fields"));
    }
  }
  return absl::OkStatus();
}

const Type* TypeTable::OfKind(absl::string_view api_version, absl::string_view kind) const {
  const auto it = kinds_.find(KindKey(api_version, kind));
  return it == kinds_.end() ? nullptr : it->second;
}

}  // namespace interpreter::native
