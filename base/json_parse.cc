// Reads JSON text. This is the only place that includes RapidJSON: its reader is used for the
// grammar; numbers and containers are built here (RapidJSON 1.1.0 overflows on hostile exponents
// and keeps duplicate names).

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "base/internal/json_nodes.h"
#include "base/internal/json_pool.h"
#include "base/json.h"
#include "base/json_fields.h"

// Makes the reader copy plain stretches of strings 16 bytes at a time.
#if defined(__SSE2__)
#define RAPIDJSON_SSE2
#endif
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

// Returns a member's name. Names up to 15 bytes are stored in the Value itself; longer ones, which
// repeat from object to object, share their bytes through a small cache of each thread.
Value NameOf(absl::string_view name) {
  constexpr size_t kInPlace = 15;
  constexpr size_t kSlots = 256;
  if (name.size() <= kInPlace) return Value(name);
  thread_local const std::unique_ptr<std::array<Value, kSlots>> slots =
      std::make_unique<std::array<Value, kSlots>>();
  uint64_t first = 0;
  uint64_t last = 0;
  std::memcpy(&first, name.data(), sizeof(first));
  std::memcpy(&last, name.data() + name.size() - sizeof(last), sizeof(last));
  const uint64_t mixed = (first * 31 + last + name.size()) * 0x9E3779B97F4A7C15u;
  Value& slot = (*slots)[mixed >> 56];
  if (slot.AsString() != name) slot = Value(name);
  return slot;
}

// Returns how many values (members, elements and what these contain) a document may have. Text such
// as "[0,0,0" takes ten to twenty times its size as values, so that some answers of 64 MB would
// take all memory. The limit exceeds what etcd holds of one object unless it is configured
// otherwise (1.5 MB of text, with a value in every other byte), and in longer texts what is usual:
// a value for each 20 to 40 bytes.
size_t MaxValues(size_t text_bytes) {
  constexpr size_t kOfObject = 1'000'000;
  constexpr size_t kBytesOfValue = 16;
  return std::max(kOfObject, text_bytes / kBytesOfValue);
}

class Handler {
 public:
  Handler(const ParseOptions& options, size_t text_bytes)
      : max_depth_(static_cast<size_t>(options.max_depth)),
        max_values_(MaxValues(text_bytes)),
        dropped_(options.dropped),
        kept_(WantedOf(options.kept)) {
    constexpr size_t kUsual = 64;  // More than most objects have open at once.
    elements_.reserve(kUsual);
    starts_.reserve(kUsual / 4);
  }

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
    return Add(Value(absl::string_view(text, size)), BytesOf(size));
  }
  bool Key(const char* text, rapidjson::SizeType size, bool) {
    if (inside_dropped_ > 0) return true;
    const absl::string_view name(text, size);
    Match(name);
    if (IsLeftOut()) return true;  // The value of this member is dropped.
    if (name == "uid") starts_.back().has_uid = true;
    elements_.emplace_back(NameOf(name), Value());
    starts_.back().bytes += BytesOf(size);
    return true;
  }
  bool StartObject() { return Enter(false); }
  bool StartArray() { return Enter(true); }
  bool EndObject(rapidjson::SizeType) {
    if (LeaveDropped()) return true;
    const size_t start = starts_.back().elements;
    absl::Span<Member> members = absl::MakeSpan(elements_).subspan(start);
    members = members.first(Builder::Sort(members));
    // Whole documents and objects with a uid (metadata) are hardly ever equal to others.
    const bool may_repeat = starts_.size() > 1 && !starts_.back().has_uid;
    const size_t bytes = starts_.back().bytes;
    Leave();
    Pooled object =
        may_repeat ? PooledObject(members, bytes) : Pooled{.value = Builder::SortedObject(members)};
    elements_.erase(elements_.begin() + static_cast<std::ptrdiff_t>(start), elements_.end());
    return Add(std::move(object.value), object.is_in_table ? 0 : bytes);
  }
  bool EndArray(rapidjson::SizeType) {
    if (LeaveDropped()) return true;
    const size_t start = starts_.back().elements;
    const size_t bytes = starts_.back().bytes;
    Leave();
    Pooled array = PooledArray(absl::MakeSpan(elements_).subspan(start), bytes);
    elements_.erase(elements_.begin() + static_cast<std::ptrdiff_t>(start), elements_.end());
    return Add(std::move(array.value), array.is_in_table ? 0 : bytes);
  }

  Value Result() { return elements_.empty() ? Value() : std::move(elements_.back().value); }
  const std::string& error() const { return error_; }
  bool has_too_many_values() const { return values_ > max_values_; }

 private:
  // Returns what a string takes beside the Value.
  static size_t BytesOf(size_t size) {
    constexpr size_t kInPlace = 15;
    constexpr size_t kHead = 8;
    return size <= kInPlace ? 0 : kHead + size;
  }
  // `bytes` is what the value takes outside of itself, and in no table.
  bool Add(Value v, size_t bytes = 0) {
    if (inside_dropped_ > 0) return true;
    if (IsLeftOut()) {
      if (IsDropped()) --matched_;
      return true;
    }
    if (++values_ > max_values_) {
      error_ = absl::StrCat("more than ", max_values_, " values");
      return false;
    }
    if (!starts_.empty()) starts_.back().bytes += sizeof(Member) + bytes;
    if (starts_.empty() || starts_.back().is_array) {
      elements_.emplace_back(Value(), std::move(v));
    } else {
      elements_.back().value = std::move(v);
    }
    return true;
  }
  size_t Depth() const { return starts_.size() + inside_dropped_; }
  bool Enter(bool array) {
    if (Depth() == max_depth_) {
      error_ = absl::StrCat("nested deeper than ", max_depth_);
      return false;
    }
    if (inside_dropped_ > 0 || IsLeftOut()) {
      ++inside_dropped_;
      return true;
    }
    const Fields* kept = starts_.empty() ? kept_ : starts_.back().next;
    starts_.push_back({elements_.size(), array, kept});
    if (array) Match("*");
    return true;
  }
  void Leave() {
    starts_.pop_back();
    matched_ = std::min(matched_, starts_.size());
  }
  // Handles the end of a container inside the dropped value, or of that value itself.
  bool LeaveDropped() {
    if (inside_dropped_ == 0) return false;
    if (--inside_dropped_ == 0 && IsDropped()) --matched_;
    return true;
  }
  // Compares a step, inside the innermost open container, with the path of the dropped member.
  void Match(absl::string_view step) {
    Open& open = starts_.back();
    if (open.kept != nullptr) {
      const Fields* wanted = open.kept->Find(step);
      open.next = WantedOf(wanted);
      open.leaves_out = wanted == nullptr;
    }
    const size_t level = starts_.size() - 1;
    if (matched_ > level) matched_ = level;
    if (matched_ == level && level < dropped_.size() && dropped_[level] == step) ++matched_;
  }
  // nullptr stands for all fields.
  static const Fields* WantedOf(const Fields* fields) {
    return fields == nullptr || fields->wants_all() ? nullptr : fields;
  }
  // Returns whether the next value is left out.
  bool IsLeftOut() const { return IsDropped() || (!starts_.empty() && starts_.back().leaves_out); }
  bool IsDropped() const { return !dropped_.empty() && matched_ == dropped_.size(); }
  bool AddNumber(absl::string_view text) {
    int64_t whole = 0;
    const auto [end, code] = std::from_chars(text.data(), text.data() + text.size(), whole);
    if (code == std::errc() && end == text.data() + text.size()) return Add(Value(whole));
    // strtod is used because from_chars does not distinguish underflow (0 here, as in Go) from
    // overflow.
    const double d = std::strtod(std::string(text).c_str(), nullptr);
    if (d <= std::numeric_limits<double>::max() && d >= std::numeric_limits<double>::lowest()) {
      return Add(Value(d));
    }
    error_ = "number out of range";
    return false;
  }

  const size_t max_depth_;
  const size_t max_values_;
  size_t values_ = 0;  // How many were built.
  const Path dropped_;
  const Fields* const kept_;  // For the whole document.
  size_t matched_ = 0;        // How many leading steps of dropped_ match the reader's position.
  // Open containers inside the value that is left out, including itself.
  size_t inside_dropped_ = 0;
  // The open containers, outermost first, and the elements of all of them so far: the values of an
  // array have no name; the last member of an object has no value yet while its value is being
  // read.
  struct Open {
    size_t elements;  // How many elements precede it.
    bool is_array;
    const Fields* kept;            // For this container.
    const Fields* next = nullptr;  // For the next value.
    bool leaves_out = false;       // True if the next value is left out.
    bool has_uid = false;
    size_t bytes = 0;  // What the values so far take, without what is in the table of equal parts.
  };
  std::vector<Open> starts_;
  std::vector<Member> elements_;
  std::string error_;
};

// Recursion is bounded by the handler's depth limit.
constexpr unsigned kFlags = rapidjson::kParseNumbersAsStringsFlag;

// Returns whether the reader may decode the text in place: it is ASCII, and has none of the control
// characters 0x1a to 0x1f, which the reader's version 1.1 lets pass in strings where it looks at 16
// bytes at a time. Looks at eight bytes itself: one by one, this took a tenth of the reader's
// instructions.
bool IsPlain(absl::string_view text) {
  constexpr uint64_t kHighBits = 0x8080808080808080u;
  constexpr uint64_t kFrom1a = 0x6666666666666666u;  // Sets the high bit of 0x1a to 0x7f.
  constexpr uint64_t kFrom20 = 0x6060606060606060u;
  uint64_t odd = 0;
  const auto look = [&](uint64_t word) { odd |= word | ((word + kFrom1a) & ~(word + kFrom20)); };
  uint64_t word = 0;
  for (; text.size() >= sizeof(word); text.remove_prefix(sizeof(word))) {
    std::memcpy(&word, text.data(), sizeof(word));
    look(word);
  }
  for (const char c : text) look(static_cast<unsigned char>(c));
  return (odd & kHighBits) == 0;
}

// A copy of the text that is decoded in place, since the text itself must not change. Each thread
// has one buffer.
class Scratch {
 public:
  explicit Scratch(absl::string_view text) : buffer_(Buffer()) {
    buffer_.assign(text.data(), text.size());
    buffer_.append(kPadding, '\0');
  }
  ~Scratch() {
    if (buffer_.capacity() > kKeptCapacity) std::string().swap(buffer_);
  }
  Scratch(const Scratch&) = delete;
  char* data() { return buffer_.data(); }

 private:
  static constexpr size_t kPadding = 16;  // The reader reads whole blocks.
  static constexpr size_t kKeptCapacity = 64 << 10;
  static std::string& Buffer() {
    thread_local std::string buffer;
    return buffer;
  }
  std::string& buffer_;
};

// How the reader ended and how many bytes it took.
struct Reading {
  rapidjson::ParseResult result;
  size_t taken;
};

Reading Read(absl::string_view text, Handler& handler) {
  rapidjson::Reader reader;
  if (IsPlain(text)) {  // This is nearly always the case, and much faster.
    Scratch scratch(text);
    rapidjson::InsituStringStream stream(scratch.data());
    const auto result = reader.Parse<kFlags | rapidjson::kParseInsituFlag>(stream, handler);
    return {result, stream.Tell()};
  }
  ViewStream stream(text);
  const auto result = reader.Parse<kFlags | rapidjson::kParseValidateEncodingFlag>(stream, handler);
  return {result, stream.Tell()};
}

// Replaces escaped halves of surrogate pairs that stand alone by U+FFFD, as Go does. (The reader
// refuses first halves, and turns second halves into bytes that are not UTF-8.) The length of the
// text stays the same.
class SurrogateRepair {
 public:
  static bool MayNeed(absl::string_view text) {
    const size_t escape = text.find('\\');  // Most texts have none, and this search is fast.
    if (escape == absl::string_view::npos) return false;
    text.remove_prefix(escape);
    return absl::StrContains(text, "\\ud") || absl::StrContains(text, "\\uD");
  }
  explicit SurrogateRepair(absl::string_view text) : text_(text) {
    for (size_t at = text_.find('\\'); at < text_.size(); at = text_.find('\\', at)) {
      at += IsEscape(at, "89ab") && IsEscape(at + kEscape, "cdef") ? 2 * kEscape : RepairAt(at);
    }
  }
  absl::string_view text() const { return text_; }

 private:
  static constexpr size_t kEscape = 6;  // "\uXXXX"

  // Returns whether the text at `at` is "\uDxXX", where `x` lists the allowed values of x in lower
  // case.
  bool IsEscape(size_t at, absl::string_view x) const {
    const auto lower = [&](size_t i) { return absl::ascii_tolower(text_[at + i]); };
    return at + kEscape <= text_.size() && text_[at] == '\\' && text_[at + 1] == 'u' &&
           lower(2) == 'd' && absl::StrContains(x, lower(3)) &&
           absl::ascii_isxdigit(text_[at + 4]) && absl::ascii_isxdigit(text_[at + 5]);
  }
  // Repairs the escape at `at` if need be; returns its length.
  size_t RepairAt(size_t at) {
    if (!IsEscape(at, "89abcdef")) return 2;
    text_.replace(at, kEscape, "\\ufffd");
    return kEscape;
  }

  std::string text_;
};

absl::Status ParseError(absl::string_view what, size_t offset) {
  return absl::InvalidArgumentError(absl::StrCat("invalid JSON at byte ", offset, ": ", what));
}

}  // namespace

absl::StatusOr<Value> Parse(absl::string_view text, const ParseOptions& options) {
  std::optional<SurrogateRepair> repaired;
  if (SurrogateRepair::MayNeed(text)) text = repaired.emplace(text).text();
  Handler handler(options, text.size());
  try {
    const auto [result, taken] = Read(text, handler);
    if (result.IsError()) {
      const char* what = handler.error().empty() ? rapidjson::GetParseError_En(result.Code())
                                                 : handler.error().c_str();
      const absl::Status error = ParseError(what, result.Offset());
      return handler.has_too_many_values() ? absl::ResourceExhaustedError(error.message()) : error;
    }
    if (taken != text.size()) return ParseError("unexpected NUL byte", taken);
  } catch (const std::exception& e) {
    return ParseError(e.what(), 0);
  }
  return handler.Result();
}

}  // namespace json
