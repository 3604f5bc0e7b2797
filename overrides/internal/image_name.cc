// A name is checked against the grammar of github.com/distribution/reference, in its order and with
// its messages, and then cut at the same characters as upstream does: the digest at "@", the tag at
// the last ":" behind the last "/", the registry at the first "/". The expressions are compiled
// once, at first use, and never freed. What the host of the grammar is and what upstream takes for
// a registry differs ("foo/bar" has no registry, although "foo" is a host by the grammar); both are
// kept.

#include "overrides/internal/image_name.h"

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "base/regex.h"
#include "base/status.h"

namespace overrides {
namespace {

constexpr size_t kMaxRepository = 255;
constexpr absl::string_view kTag = R"([\w][\w.-]{0,127})";
constexpr absl::string_view kDigest =
    R"([A-Za-z][A-Za-z0-9]*(?:[-_+.][A-Za-z][A-Za-z0-9]*)*[:][[:xdigit:]]{32,})";
constexpr absl::string_view kHostPart = R"((?:[a-zA-Z0-9]|[a-zA-Z0-9][a-zA-Z0-9-]*[a-zA-Z0-9]))";
constexpr absl::string_view kPathPart = R"([a-z0-9]+(?:(?:[._]|__|[-]+)[a-z0-9]+)*)";

base::Regex Whole(absl::string_view pattern) {
  return *base::Regex::Compile(absl::StrCat("^", pattern, "$"));
}

std::string HostPattern() {
  return absl::StrCat("(?:", kHostPart, R"((?:\.)", kHostPart,
                      R"()*|\[(?:[a-fA-F0-9:]+)\])(?::[0-9]+)?)");
}

std::string NamePattern() {
  return absl::StrCat("(?:", HostPattern(), "/)?", kPathPart, "(?:/", kPathPart, ")*");
}

// The grammar of a reference. Thread-safe.
struct Grammar {
  const base::Regex tag = Whole(kTag);
  const base::Regex digest = Whole(kDigest);
  const base::Regex host = Whole(HostPattern());
  const base::Regex reference =
      Whole(absl::StrCat(NamePattern(), "(?::", kTag, ")?(?:@", kDigest, ")?"));
};

const Grammar& TheGrammar() {
  static const Grammar& grammar = *new Grammar;
  return grammar;
}

absl::Status CheckDigest(absl::string_view digest) {
  const size_t colon = digest.find(':');
  const absl::string_view algorithm = digest.substr(0, colon);
  const absl::string_view sum = digest.substr(colon + 1);
  const size_t wanted = algorithm == "sha256"   ? 64
                        : algorithm == "sha384" ? 96
                        : algorithm == "sha512" ? 128
                                                : 0;
  if (wanted == 0) return absl::InvalidArgumentError("unsupported digest algorithm");
  if (sum.size() != wanted) return absl::InvalidArgumentError("invalid checksum digest length");
  if (sum.find_first_not_of("0123456789abcdef") != absl::string_view::npos) {
    return absl::InvalidArgumentError("invalid checksum digest format");
  }
  return absl::OkStatus();
}

absl::Status CheckReference(absl::string_view name) {
  const Grammar& grammar = TheGrammar();
  if (grammar.reference.Finds(name)) return absl::OkStatus();
  if (name.empty()) {
    return absl::InvalidArgumentError("repository name must have at least one component");
  }
  if (grammar.reference.Finds(absl::AsciiStrToLower(name))) {
    return absl::InvalidArgumentError("repository name must be lowercase");
  }
  return absl::InvalidArgumentError("invalid reference format");
}

bool IsRegistry(absl::string_view part) {
  return absl::StrContains(part, ".") || absl::StrContains(part, ":") || part == "localhost";
}

// Returns the length of the part that the grammar takes for a host, with its slash.
size_t HostLength(absl::string_view name) {
  const size_t slash = name.find('/');
  const bool has_host =
      slash != absl::string_view::npos && TheGrammar().host.Finds(name.substr(0, slash));
  return has_host ? slash + 1 : 0;
}

}  // namespace

absl::StatusOr<ImageName> ImageName::Parse(absl::string_view name) {
  RETURN_IF_ERROR(CheckReference(name));
  ImageName result;
  if (const size_t at = name.find('@'); at != absl::string_view::npos) {
    result.digest = std::string(name.substr(at + 1));
    RETURN_IF_ERROR(CheckDigest(result.digest));
    name = name.substr(0, at);
  }
  const size_t colon = name.rfind(':');
  if (colon != absl::string_view::npos && !absl::StrContains(name.substr(colon), "/")) {
    result.tag = std::string(name.substr(colon + 1));
    // With a tag, upstream's parser forgets the digest.
    result.digest.clear();
    name = name.substr(0, colon);
  }
  // The host does not count for this limit, as in the library.
  if (name.size() - HostLength(name) > kMaxRepository) {
    return absl::InvalidArgumentError("repository name must not be more than 255 characters");
  }
  const size_t slash = name.find('/');
  const bool has_registry = slash != absl::string_view::npos && IsRegistry(name.substr(0, slash));
  if (has_registry) result.registry = std::string(name.substr(0, slash));
  result.repository = std::string(has_registry ? name.substr(slash + 1) : name);
  return result;
}

void ImageName::SetTagOrDigest(absl::string_view value) {
  if (TheGrammar().tag.Finds(value)) {
    tag = std::string(value);
    digest.clear();
  } else if (TheGrammar().digest.Finds(value)) {
    digest = std::string(value);
    tag.clear();
  }
}

void ImageName::RemoveTagOrDigest() { (tag.empty() ? digest : tag).clear(); }

std::string ImageName::ToString() const {
  std::string name = registry.empty() ? repository : absl::StrCat(registry, "/", repository);
  if (!tag.empty()) return absl::StrCat(name, ":", tag);
  return digest.empty() ? name : absl::StrCat(name, "@", digest);
}

}  // namespace overrides
