#include "tests/prove/search/note.h"

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"

namespace prove {
namespace {

const char* KindText(Note::Kind kind) {
  switch (kind) {
    case Note::Kind::kList:
      return "list";
    case Note::Kind::kPage:
      return "page";
    case Note::Kind::kWatchBegins:
      return "watch begins";
    case Note::Kind::kEvent:
      return "event";
    case Note::Kind::kBookmark:
      return "bookmark";
    case Note::Kind::kGone:
      return "410";
    case Note::Kind::kRefused:
      return "refused";
    case Note::Kind::kLost:
      return "lost";
    case Note::Kind::kSettled:
      break;
  }
  return "settled";
}

}  // namespace

std::string ToLine(const Note& note) {
  std::string line = absl::StrCat(
      absl::StrFormat("%.3f ", note.seconds), note.began, "-", note.ended, " of ", note.process,
      " ", KindText(note.kind), note.first ? " first" : "", note.last ? " last" : "",
      note.code == 0 ? "" : " ", note.code == 0 ? "" : absl::StrCat(note.code), " at ",
      absl::StrJoin(note.versions, ",", absl::PairFormatter("=")));
  if (!note.missing.empty()) absl::StrAppend(&line, " missing ", absl::StrJoin(note.missing, ","));
  if (!note.stale.empty()) absl::StrAppend(&line, " stale ", absl::StrJoin(note.stale, ","));
  for (const ReadObject& object : note.objects) {
    absl::StrAppend(&line, "\n    ", note.type, " ", object.member, " ", object.key, " ",
                    object.text);
  }
  return line;
}

}  // namespace prove
