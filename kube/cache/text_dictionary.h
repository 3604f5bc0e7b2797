// What the texts of one resource have in common, so that each takes little more memory than what is
// its own: objects of one owner, such as the pods of a Deployment, differ in a few names only.
//
//   auto dictionary = std::make_shared<TextDictionary>();
//   const std::string packed = dictionary->Pack(text);
//   TextReader(packed, dictionary.get()).Rest(out);         // Appends the text.
//
// A packed text is a row of literal pieces and of references into the dictionary. The dictionary
// learns the pieces of texts that it knows little of, until it is full; then texts that are unlike
// all of it are mostly literal. Nothing is forgotten, so packed texts stay readable.
#ifndef KUBE_CACHE_TEXT_DICTIONARY_H_
#define KUBE_CACHE_TEXT_DICTIONARY_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/strings/string_view.h"
#include "absl/synchronization/mutex.h"
#include "base/byte_budget.h"

namespace kube {

// Thread-safe.
class TextDictionary {
 public:
  // What objects whose texts it packs take is charged to the budget; without one nothing is
  // counted.
  explicit TextDictionary(std::shared_ptr<base::ByteBudget> budget = nullptr);

  // Returns a form of the text that only TextReader with this dictionary reads.
  std::string Pack(absl::string_view text) ABSL_LOCKS_EXCLUDED(mu_);
  // The same without a dictionary; for TextReader with nullptr.
  static std::string PackAlone(absl::string_view text);
  // The memory that it takes.
  size_t bytes() const ABSL_LOCKS_EXCLUDED(mu_);
  // Null without one.
  base::ByteBudget* budget() const { return budget_.get(); }

 private:
  friend class TextReader;
  // A part of the text that is at `at` in the dictionary; `size` 0: there is none.
  struct Match {
    size_t begin = 0, size = 0, at = 0;
  };

  std::string PackKnown(absl::string_view text, std::vector<absl::string_view>& unknown) const
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  // Returns the match that begins at `here` or, not before `first`, somewhat earlier.
  Match Find(absl::string_view text, size_t first, size_t here) const
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  void Learn(absl::string_view piece) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  // Notes the places of [from, used_).
  void Index(size_t from) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  size_t SlotOf(const char* bytes) const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);

  // Bytes that have been written once never change, so readers need no lock for those that their
  // text refers to.
  const std::unique_ptr<char[]> content_;
  const std::shared_ptr<base::ByteBudget> budget_;
  mutable absl::Mutex mu_;
  size_t used_ ABSL_GUARDED_BY(mu_) = 0;
  // By the hash of some bytes: where they are, divided by the distance of indexed places, plus one.
  std::vector<uint16_t> places_ ABSL_GUARDED_BY(mu_);
};

// Reads a packed text once, from its beginning to its end. Not thread-safe; both arguments have to
// outlive it.
class TextReader {
 public:
  TextReader(absl::string_view packed, const TextDictionary* dictionary)
      : packed_(packed), content_(dictionary == nullptr ? nullptr : dictionary->content_.get()) {}

  // Append the next bytes of the text, or all that are left.
  void Next(size_t size, std::string& out);
  void Rest(std::string& out);
  void Skip(size_t size);

 private:
  // Takes at most `size` bytes of the present piece; empty at the end.
  absl::string_view Take(size_t size);

  absl::string_view packed_;
  const char* const content_;
  absl::string_view piece_;
  bool literal_is_next_ = true;
};

}  // namespace kube

#endif  // KUBE_CACHE_TEXT_DICTIONARY_H_
