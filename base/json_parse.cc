// Reading JSON text. The only place that includes RapidJSON: its reader is used for the grammar,
// numbers and containers are ours (RapidJSON 1.1.0 overflows on hostile exponents and keeps
// duplicate names).
#include <charconv>
#include <cstdlib>
#include <memory>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "base/internal/json_nodes.h"
#include "base/json.h"

// An assertion inside the library must not end the process.
#define RAPIDJSON_ASSERT(x) \
  if (!(x)) throw std::logic_error("rapidjson: " #x)
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wclass-memaccess"
#include <rapidjson/error/en.h>
#include <rapidjson/reader.h>
#pragma GCC diagnostic pop

namespace json {
namespace {

// Input for the reader; a NUL byte inside the text ends it (Parse reports that).
class ViewStream {
 public:
  using Ch = char;
  explicit ViewStream(absl::string_view text)
      : begin_(text.data()), at_(begin_), end_(begin_ + text.size()) {}
  Ch Peek() const { return at_ == end_ ? '\0' : *at_; }
  Ch Take() { return at_ == end_ ? '\0' : *at_++; }
  size_t Tell() const { return static_cast<size_t>(at_ - begin_); }
  // Output half of RapidJSON's stream concept; never used for this kind of parse.
  Ch* PutBegin() { return nullptr; }
  void Put(Ch) {}
  void Flush() {}
  size_t PutEnd(Ch*) { return 0; }

 private:
  const char* begin_;
  const char* at_;
  const char* end_;
};

// Member names repeat from object to object; equal ones share their bytes. One cache for each
// thread.
const Value& InternName(absl::string_view name) {
  constexpr size_t kSlots = 1024;
  thread_local const std::unique_ptr<std::vector<Value>> slots =
      std::make_unique<std::vector<Value>>(kSlots);
  uint32_t hash = 2166136261u;
  for (const char c : name) hash = (hash ^ static_cast<uint8_t>(c)) * 16777619u;
  Value& slot = (*slots)[hash % kSlots];
  if (slot.AsString() != name || !slot.is_string()) slot = Value(name);
  return slot;
}

class Handler {
 public:
  explicit Handler(int max_depth) : max_depth_(static_cast<size_t>(max_depth)) {}

  bool Null() { return Add(Value()); }
  bool Bool(bool b) { return Add(Value(b)); }
  bool Int(int i) { return Add(Value(i)); }
  bool Uint(unsigned u) { return Add(Value(static_cast<int64_t>(u))); }
  bool Int64(int64_t i) { return Add(Value(i)); }
  bool Uint64(uint64_t u) { return Add(Value(static_cast<double>(u))); }
  bool Double(double d) { return Add(Value(d)); }
  bool RawNumber(const char* text, rapidjson::SizeType size, bool) {
    return AddNumber(absl::string_view(text, size));
  }
  bool String(const char* text, rapidjson::SizeType size, bool) {
    return Add(Value(absl::string_view(text, size)));
  }
  bool Key(const char* text, rapidjson::SizeType size, bool) {
    names_.push_back(InternName(absl::string_view(text, size)));
    return true;
  }
  bool StartObject() { return Enter(); }
  bool StartArray() { return Enter(); }
  bool EndObject(rapidjson::SizeType count) {
    --depth_;
    std::vector<Member> members;
    members.reserve(count);
    const size_t first_value = values_.size() - count;
    const size_t first_name = names_.size() - count;
    for (size_t i = 0; i < count; ++i) {
      members.emplace_back(std::move(names_[first_name + i]), std::move(values_[first_value + i]));
    }
    names_.resize(first_name);
    values_.resize(first_value);
    return Add(Builder::Object(std::move(members)));
  }
  bool EndArray(rapidjson::SizeType count) {
    --depth_;
    const auto first = values_.end() - static_cast<std::ptrdiff_t>(count);
    std::vector<Value> items(std::make_move_iterator(first),
                             std::make_move_iterator(values_.end()));
    values_.resize(values_.size() - count);
    return Add(Builder::Array(std::move(items)));
  }

  Value Result() { return values_.empty() ? Value() : std::move(values_.back()); }
  const std::string& error() const { return error_; }

 private:
  bool Add(Value v) {
    values_.push_back(std::move(v));
    return true;
  }
  bool Enter() {
    if (++depth_ <= max_depth_) return true;
    error_ = absl::StrCat("nested deeper than ", max_depth_);
    return false;
  }
  bool AddNumber(absl::string_view text) {
    int64_t whole = 0;
    const auto [end, code] = std::from_chars(text.data(), text.data() + text.size(), whole);
    if (code == std::errc() && end == text.data() + text.size()) return Add(Value(whole));
    // strtod, as from_chars cannot tell underflow (which is 0 here, as in Go) from overflow.
    const double d = std::strtod(std::string(text).c_str(), nullptr);
    if (d <= std::numeric_limits<double>::max() && d >= std::numeric_limits<double>::lowest()) {
      return Add(Value(d));
    }
    error_ = "number out of range";
    return false;
  }

  const size_t max_depth_;
  size_t depth_ = 0;
  std::vector<Value> values_;
  std::vector<Value> names_;
  std::string error_;
};

absl::Status ParseError(absl::string_view what, size_t offset) {
  return absl::InvalidArgumentError(absl::StrCat("invalid JSON at byte ", offset, ": ", what));
}

}  // namespace

absl::StatusOr<Value> Parse(absl::string_view text, const ParseOptions& options) {
  constexpr unsigned kFlags = rapidjson::kParseIterativeFlag |
                              rapidjson::kParseNumbersAsStringsFlag |
                              rapidjson::kParseValidateEncodingFlag;
  ViewStream stream(text);
  Handler handler(options.max_depth);
  rapidjson::Reader reader;
  try {
    const rapidjson::ParseResult result = reader.Parse<kFlags>(stream, handler);
    if (result.IsError()) {
      const char* what = handler.error().empty() ? rapidjson::GetParseError_En(result.Code())
                                                 : handler.error().c_str();
      return ParseError(what, result.Offset());
    }
  } catch (const std::exception& e) {
    return ParseError(e.what(), stream.Tell());
  }
  if (stream.Tell() != text.size()) return ParseError("unexpected NUL byte", stream.Tell());
  return handler.Result();
}

}  // namespace json
