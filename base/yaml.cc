// Reads YAML. Only base/yaml*.cc include yaml-cpp.

#include "base/yaml.h"

#include <yaml-cpp/emitterstyle.h>
#include <yaml-cpp/eventhandler.h>
#include <yaml-cpp/exceptions.h>
#include <yaml-cpp/parser.h>

#include <algorithm>
#include <optional>
#include <sstream>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/ascii.h"
#include "absl/strings/cord.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "base/internal/yaml_scalar.h"
#include "base/status.h"
#include "base/utf8.h"

namespace yaml {
namespace {

using YAML::anchor_t;
using YAML::Mark;

// Limits nesting: deeper than any manifest, but shallow enough for yaml-cpp's recursion (which
// fails with a worse error at 500) and for recursive functions on the value.
constexpr size_t kMaxDepth = 400;
// How much text aliases may stand for in one document. Aliased values are shared, so they cost
// nothing here, but writing a document of nested aliases could fill the memory.
constexpr size_t kMaxAliasedBytes = 16 << 20;
constexpr size_t kBytesPerNode = 8;

constexpr char kHasZero[] = "the text has a character of zero";
constexpr char kPositionPayload[] = "type.yaml/position";

// Throws through yaml-cpp, which has no other way to stop early; ParseAll catches the exception.
[[noreturn]] void Fail(const Mark& mark, const std::string& message) {
  throw YAML::ParserException(mark, message);
}

// A finished value, the size of its text, and the depth of its nesting. Aliases count as the value
// that they stand for.
struct Sized {
  json::Value value;
  size_t bytes = kBytesPerNode;
  size_t depth = 0;
};

// An array or object whose end has not come yet.
struct Open {
  bool is_map = false;
  anchor_t anchor = 0;
  size_t bytes = kBytesPerNode;
  size_t depth = 1;
  std::vector<json::Value> items;
  std::vector<json::Member> members;
  std::optional<json::Value> name;  // The name whose value follows.
  bool is_merge = false;            // That "member" is <<.
};

std::string NameText(const json::Value& key, const Mark& mark) {
  if (key.is_string()) return key.ToString();
  if (key.is_bool() || key.is_number()) return json::Write(key);
  Fail(mark, "a key must be a string, a number or a boolean");
}

// Determines where further documents may begin. yaml-cpp takes unexpected text after a value, such
// as "b: c" after "- a", for another document.
class DocumentPlaces {
 public:
  explicit DocumentPlaces(absl::string_view text) : text_(text) {}

  // Returns whether a document may begin at this line, counted from 0.
  bool MayBegin(int line) {
    // Done once for all documents, and never for a text with only one.
    if (lines_.empty()) lines_ = absl::StrSplit(text_, '\n');
    const size_t count = std::min(lines_.size(), static_cast<size_t>(line) + 1);
    if (absl::StartsWith(lines_[count - 1], "---")) return true;
    for (size_t i = count; i-- > 1;) {
      const absl::string_view before = absl::StripAsciiWhitespace(lines_[i - 1]);
      if (!before.empty() && before[0] != '#') return absl::StartsWith(lines_[i - 1], "...");
    }
    return false;
  }

 private:
  const absl::string_view text_;
  std::vector<absl::string_view> lines_;
};

// Builds a value from yaml-cpp's events.
class DocumentBuilder : public YAML::EventHandler {
 public:
  // `after` is the byte at which the previous document began; -1 for the first document. `places`
  // must outlive the builder.
  DocumentBuilder(DocumentPlaces& places, int after) : places_(places), after_(after) {}

  // Returns the byte at which the document began; `after` if there was none.
  int place() const { return place_; }

  // Returns null when the document is empty.
  json::Value Take() { return std::move(document_); }

  void OnDocumentStart(const Mark& mark) override {
    // yaml-cpp may report text that it cannot read as an empty document, without end.
    if (mark.pos <= after_) Fail(mark, "this belongs to no document");
    place_ = mark.pos;
    if (after_ >= 0 && !places_.MayBegin(mark.line)) {
      Fail(mark, "this belongs neither to the value before nor to a new document");
    }
  }
  void OnDocumentEnd() override {}

  void OnNull(const Mark& mark, anchor_t anchor) override { Finish(mark, anchor, {}); }

  void OnScalar(const Mark& mark, const std::string& tag, anchor_t anchor,
                const std::string& text) override {
    if (tag == "?" && text == "<<" && AwaitsName()) {
      open_.back().name = json::Value();
      open_.back().is_merge = true;
      return;
    }
    auto value = tag == "?" ? internal::ResolvePlain(text) : internal::ResolveTagged(tag, text);
    if (!value.ok()) Fail(mark, std::string(value.status().message()));
    Finish(mark, anchor, {*std::move(value), text.size() + kBytesPerNode});
  }

  void OnAlias(const Mark& mark, anchor_t anchor) override {
    const auto anchored = anchors_.find(anchor);
    if (anchored == anchors_.end()) Fail(mark, "an anchor's value contains itself");
    aliased_bytes_ += anchored->second.bytes;
    if (aliased_bytes_ > kMaxAliasedBytes) Fail(mark, "aliases stand for too much text");
    CheckDepth(mark, anchored->second.depth);
    Finish(mark, 0, anchored->second);
  }

  void OnSequenceStart(const Mark& mark, const std::string&, anchor_t anchor,
                       YAML::EmitterStyle::value) override {
    Enter(mark, {.anchor = anchor});
  }
  void OnSequenceEnd() override { Leave(); }
  void OnMapStart(const Mark& mark, const std::string&, anchor_t anchor,
                  YAML::EmitterStyle::value) override {
    Enter(mark, {.is_map = true, .anchor = anchor});
  }
  void OnMapEnd() override { Leave(); }

 private:
  bool AwaitsName() const { return !open_.empty() && open_.back().is_map && !open_.back().name; }

  // Checks whether a value of that depth may be put into the open containers.
  void CheckDepth(const Mark& mark, size_t depth) const {
    if (open_.size() + depth <= kMaxDepth) return;
    Fail(mark, absl::StrCat("nested deeper than ", kMaxDepth));
  }

  void Enter(const Mark& mark, Open container) {
    if (AwaitsName()) Fail(mark, "a key must be a string, a number or a boolean");
    CheckDepth(mark, 1);
    start_ = mark;
    open_.push_back(std::move(container));
  }

  void Leave() {
    Open done = std::move(open_.back());
    open_.pop_back();
    Finish(start_, done.anchor,
           {done.is_map ? json::Value::OfMembers(std::move(done.members))
                        : json::Value::OfItems(std::move(done.items)),
            done.bytes, done.depth});
  }

  // Puts a value into its place: the document, an array, or a name or a member of an object.
  void Finish(const Mark& mark, anchor_t anchor, Sized sized) {
    if (anchor != 0) anchors_[anchor] = sized;
    if (open_.empty()) {
      document_ = std::move(sized.value);
      return;
    }
    Open& parent = open_.back();
    parent.bytes += sized.bytes;
    parent.depth = std::max(parent.depth, sized.depth + 1);
    if (!parent.is_map) {
      parent.items.push_back(std::move(sized.value));
    } else if (!parent.name) {
      parent.name = NameText(sized.value, mark);
    } else {
      AddMember(mark, parent, std::move(sized.value));
    }
  }

  static void AddMember(const Mark& mark, Open& map, json::Value value) {
    json::Value name = *std::exchange(map.name, std::nullopt);
    if (!std::exchange(map.is_merge, false)) {
      map.members.emplace_back(std::move(name), std::move(value));
    } else {
      Merge(mark, map, value);
    }
  }

  // Of several members with one name the last one stays, merged or not, as with go-yaml v2.
  static void Merge(const Mark& mark, Open& map, const json::Value& value) {
    if (value.is_object()) {
      map.members.insert(map.members.end(), value.members().begin(), value.members().end());
      return;
    }
    if (!value.is_array()) Fail(mark, "<< needs a map or a list of maps");
    for (size_t i = value.size(); i-- > 0;) {  // Earlier maps of a list win.
      if (!value.At(i).is_object()) Fail(mark, "<< needs a map or a list of maps");
      Merge(mark, map, value.At(i));
    }
  }

  DocumentPlaces& places_;
  const int after_;
  int place_ = after_;
  json::Value document_;
  std::vector<Open> open_;  // Outermost first.
  Mark start_;              // Where the last container begins, for messages.
  absl::flat_hash_map<anchor_t, Sized> anchors_;
  size_t aliased_bytes_ = 0;
};

absl::Status ErrorAt(const Mark& mark, absl::string_view message) {
  const std::string where =
      mark.is_null() ? "" : absl::StrCat(" at line ", mark.line + 1, ", column ", mark.column + 1);
  absl::Status status =
      absl::InvalidArgumentError(absl::StrCat("invalid YAML", where, ": ", message));
  if (!mark.is_null()) {
    // As a view, because clang and the library mangle Cord's constructor for std::string
    // differently.
    const std::string position = absl::StrCat(mark.line + 1, ":", mark.column + 1);
    status.SetPayload(kPositionPayload, absl::Cord(absl::string_view(position)));
  }
  return status;
}

// Returns why a text that begins with a byte order mark of UTF-16 cannot be read. The library
// passes halves of surrogate pairs on as if they were characters.
absl::Status CheckUtf16(absl::string_view text) {
  const bool is_little = text[0] == '\xFF';
  Mark mark;
  mark.line = mark.column = 0;
  bool expects_second = false;
  for (size_t i = 2; i < text.size(); i += 2) {
    if (i + 1 == text.size()) return ErrorAt(mark, "the text is not UTF-16");
    const auto low = static_cast<unsigned char>(text[is_little ? i : i + 1]);
    const auto high = static_cast<unsigned char>(text[is_little ? i + 1 : i]);
    const bool is_first = high >= 0xD8 && high < 0xDC, is_second = high >= 0xDC && high < 0xE0;
    if (is_second != expects_second) return ErrorAt(mark, "the text is not UTF-16");
    if (low == 0 && high == 0) return ErrorAt(mark, kHasZero);
    expects_second = is_first;
    const bool is_end = low == '\n' && high == 0;
    mark.line += is_end ? 1 : 0;
    mark.column = is_end ? 0 : mark.column + 1;
  }
  return expects_second ? ErrorAt(mark, "the text is not UTF-16") : absl::OkStatus();
}

// Returns why a text cannot be read. The library passes other bytes on, which a text that is
// written of them would begin with as if they were a byte order mark. By bytes of zero at the
// beginning it takes a text for UTF-32 or UTF-16. Go's reader refuses both, too.
absl::Status CheckEncoding(absl::string_view text) {
  const absl::string_view start = text.substr(0, 2);
  if (start == "\xFE\xFF" || start == "\xFF\xFE") return CheckUtf16(text);
  int line = 0;
  size_t line_begin = 0;
  for (size_t i = 0; i < text.size();) {
    const bool is_ascii = static_cast<unsigned char>(text[i]) < 0x80;
    const size_t length = is_ascii ? 1 : base::Utf8Length(text.substr(i));
    if (length == 0 || text[i] == '\0') {
      Mark mark;
      mark.line = line;
      mark.column = static_cast<int>(i - line_begin);
      return ErrorAt(mark, length == 0 ? "the text is not UTF-8" : kHasZero);
    }
    if (text[i] == '\n') {
      ++line;
      line_begin = i + 1;
    }
    i += length;
  }
  return absl::OkStatus();
}

absl::StatusOr<std::vector<json::Value>> ParseDocuments(absl::string_view text) {
  RETURN_IF_ERROR(CheckEncoding(text));
  std::vector<json::Value> documents;
  try {
    std::istringstream stream{std::string(text)};
    YAML::Parser parser(stream);
    DocumentPlaces places(text);
    int place = -1;
    while (true) {
      DocumentBuilder builder(places, place);
      if (!parser.HandleNextDocument(builder)) return documents;
      place = builder.place();
      json::Value document = builder.Take();
      if (!document.is_null()) documents.push_back(std::move(document));
    }
  } catch (const YAML::Exception& e) {
    return ErrorAt(e.mark, e.msg);
  } catch (const std::exception& e) {
    return ErrorAt(Mark::null_mark(), e.what());
  }
}

}  // namespace

absl::StatusOr<std::vector<json::Value>> ParseAll(absl::string_view text) {
  // Most texts that begin like JSON are JSON, and the JSON parser is exact and faster.
  const absl::string_view start = absl::StripLeadingAsciiWhitespace(text);
  if (!start.empty() && (start[0] == '{' || start[0] == '[')) {
    if (auto value = json::Parse(text); value.ok()) return std::vector<json::Value>{*value};
  }
  return ParseDocuments(text);
}

std::optional<Position> ErrorPosition(const absl::Status& status) {
  const absl::optional<absl::Cord> payload = status.GetPayload(kPositionPayload);
  if (!payload.has_value()) return std::nullopt;
  const std::string text(*payload);
  const std::pair<absl::string_view, absl::string_view> parts = absl::StrSplit(text, ':');
  Position position;
  const bool whole = absl::SimpleAtoi(parts.first, &position.line) &&
                     absl::SimpleAtoi(parts.second, &position.column);
  return whole ? std::optional<Position>(position) : std::nullopt;
}

absl::StatusOr<json::Value> Parse(absl::string_view text) {
  ASSIGN_OR_RETURN(std::vector<json::Value> documents, ParseAll(text));
  if (documents.size() != 1) {
    return absl::InvalidArgumentError(
        absl::StrCat("expected one YAML document, found ", documents.size()));
  }
  return std::move(documents[0]);
}

}  // namespace yaml
