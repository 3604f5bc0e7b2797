// A packed text alternates between a literal piece (its size, its bytes) and a reference (its size,
// its place in the dictionary as two bytes); sizes are written seven bits to a byte, the lowest
// first. It ends after a literal piece.
//
// Every fourth place of the dictionary is indexed by a hash of the eight bytes there. A text is
// looked up at each of its places, and what is found is extended in both directions, so that common
// parts of eleven bytes and more are always found while their slot is their own.

#include "kube/cache/text_dictionary.h"

#include <algorithm>
#include <cstring>
#include <utility>

namespace kube {
namespace {

// References have two bytes for a place.
constexpr size_t kCapacity = 64 << 10;
// A reference takes three bytes or more, and the literal behind it one.
constexpr size_t kLeast = 8;
constexpr size_t kEvery = 4;
constexpr size_t kFirstSlots = 512;
// Longer texts are rarely like others, and would leave no room.
constexpr size_t kLongestLearnt = 16 << 10;
constexpr size_t kShortestLearnt = 24;

void AppendSize(size_t size, std::string& out) {
  for (; size >= 0x80; size >>= 7) out += static_cast<char>(size | 0x80);
  out += static_cast<char>(size);
}

size_t TakeSize(absl::string_view& packed) {
  size_t size = 0;
  for (int shift = 0;; shift += 7) {
    const auto byte = static_cast<unsigned char>(packed.front());
    packed.remove_prefix(1);
    size |= static_cast<size_t>(byte & 0x7f) << shift;
    if (byte < 0x80) return size;
  }
}

void AppendLiteral(absl::string_view piece, std::string& out) {
  AppendSize(piece.size(), out);
  out.append(piece.data(), piece.size());
}

}  // namespace

// The room is not written to, and so takes no memory, until something is learnt.
TextDictionary::TextDictionary(std::shared_ptr<base::ByteBudget> budget)
    : content_(new char[kCapacity]), budget_(std::move(budget)) {}

std::string TextDictionary::PackAlone(absl::string_view text) {
  std::string packed;
  AppendLiteral(text, packed);
  return packed;
}

std::string TextDictionary::Pack(absl::string_view text) {
  std::vector<absl::string_view> unknown;
  absl::MutexLock lock(&mu_);
  std::string packed = PackKnown(text, unknown);
  // What is known already need not be learnt again.
  const bool knows_much = packed.size() < text.size() / 2;
  if (knows_much || text.size() > kLongestLearnt || used_ == kCapacity) return packed;
  for (const absl::string_view piece : unknown) Learn(piece);
  unknown.clear();
  return PackKnown(text, unknown);
}

size_t TextDictionary::bytes() const {
  absl::MutexLock lock(&mu_);
  return used_ + places_.size() * sizeof(uint16_t);
}

std::string TextDictionary::PackKnown(absl::string_view text,
                                      std::vector<absl::string_view>& unknown) const {
  std::string packed;
  size_t done = 0;
  const auto literal = [&](size_t end) {
    const absl::string_view piece = text.substr(done, end - done);
    AppendLiteral(piece, packed);
    if (piece.size() >= kShortestLearnt) unknown.push_back(piece);
  };
  for (size_t here = 0; here + kLeast <= text.size();) {
    const Match match = Find(text, done, here);
    if (match.size == 0) {
      ++here;
      continue;
    }
    literal(match.begin);
    AppendSize(match.size, packed);
    packed += static_cast<char>(match.at & 0xff);
    packed += static_cast<char>(match.at >> 8);
    done = here = match.begin + match.size;
  }
  literal(text.size());
  return packed;
}

TextDictionary::Match TextDictionary::Find(absl::string_view text, size_t first,
                                           size_t here) const {
  if (places_.empty()) return {};
  const uint16_t place = places_[SlotOf(text.data() + here)];
  if (place == 0) return {};
  Match match{.begin = here, .size = 0, .at = (place - size_t{1}) * kEvery};
  if (std::memcmp(&content_[match.at], &text[here], kLeast) != 0) return {};
  match.size = kLeast;
  const size_t most = std::min(text.size() - here, used_ - match.at);
  while (match.size < most && content_[match.at + match.size] == text[here + match.size]) {
    ++match.size;
  }
  // The match is extended to the left, into what was passed over as unknown.
  while (match.begin > first && match.at > 0 && content_[match.at - 1] == text[match.begin - 1]) {
    --match.begin;
    --match.at;
    ++match.size;
  }
  return match;
}

void TextDictionary::Learn(absl::string_view piece) {
  piece = piece.substr(0, kCapacity - used_);
  if (piece.empty()) return;
  const size_t before = used_;
  std::memcpy(&content_[before], piece.data(), piece.size());
  used_ += piece.size();
  size_t slots = std::max(places_.size(), kFirstSlots);
  // Each indexed place has about one slot; a place whose slot another one takes is not found any
  // more.
  while (slots * kEvery < used_) slots *= 2;
  if (slots == places_.size()) return Index(before);
  places_.assign(slots, 0);
  Index(0);
}

void TextDictionary::Index(size_t from) {
  // A piece that was too short for a place at its end gets one with the next piece.
  const size_t first = (from - std::min(from, kLeast)) / kEvery * kEvery;
  for (size_t at = first; at + kLeast <= used_; at += kEvery) {
    places_[SlotOf(&content_[at])] = static_cast<uint16_t>(at / kEvery + 1);
  }
}

size_t TextDictionary::SlotOf(const char* bytes) const {
  uint64_t word;
  std::memcpy(&word, bytes, sizeof word);
  return (word * 0x9E3779B97F4A7C15u >> 32) & (places_.size() - 1);
}

absl::string_view TextReader::Take(size_t size) {
  while (piece_.empty() && !packed_.empty()) {
    const size_t length = TakeSize(packed_);
    if (literal_is_next_) {
      piece_ = packed_.substr(0, length);
      packed_.remove_prefix(length);
    } else {
      const auto low = static_cast<unsigned char>(packed_[0]);
      const auto high = static_cast<unsigned char>(packed_[1]);
      piece_ = {content_ + low + (size_t{high} << 8), length};
      packed_.remove_prefix(2);
    }
    literal_is_next_ = !literal_is_next_;
  }
  const absl::string_view taken = piece_.substr(0, size);
  piece_.remove_prefix(taken.size());
  return taken;
}

void TextReader::Next(size_t size, std::string& out) {
  while (size > 0) {
    const absl::string_view piece = Take(size);
    if (piece.empty()) return;
    out.append(piece.data(), piece.size());
    size -= piece.size();
  }
}

void TextReader::Rest(std::string& out) { Next(absl::string_view::npos, out); }

void TextReader::Skip(size_t size) {
  while (size > 0) {
    const absl::string_view piece = Take(size);
    if (piece.empty()) return;
    size -= piece.size();
  }
}

}  // namespace kube
