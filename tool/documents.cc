// Splits files into documents before parsing them, so that a document that is not YAML does not
// hide the others, and so that each one keeps its own text and the line where it begins. A JSON
// text is one document, whatever its lines look like. Lists of objects become their items, all of
// which share the text of the list. Files in directories are sorted by name, since the order of a
// directory is arbitrary and users compare outputs. Standard input can be read once.

#include "tool/documents.h"

#include <algorithm>
#include <filesystem>
#include <iterator>
#include <system_error>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "base/files.h"
#include "base/status.h"
#include "base/yaml.h"

namespace tool {
namespace {

namespace fs = std::filesystem;

constexpr absl::string_view kStdin = "-";

// Returns whether the line separates documents: "---" or "--- # why", at the very beginning.
bool IsSeparator(absl::string_view line) {
  return absl::StartsWith(line, "---") && (line.size() == 3 || absl::ascii_isspace(line[3]));
}

// Whether there is nothing to parse: blanks, comments and markers only.
bool IsBlank(absl::string_view text) {
  while (!text.empty()) {
    const size_t end = std::min(text.find('\n'), text.size());
    const absl::string_view line = absl::StripAsciiWhitespace(text.substr(0, end));
    if (!line.empty() && line[0] != '#' && line != "---" && line != "...") return false;
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return true;
}

bool LooksLikeJson(absl::string_view text) {
  const absl::string_view start = absl::StripLeadingAsciiWhitespace(text);
  return !start.empty() && (start[0] == '{' || start[0] == '[');
}

// Parses one document so that errors count lines from the beginning of the file.
absl::StatusOr<std::vector<json::Value>> ParseOne(const DocumentText& part) {
  auto values = yaml::ParseAll(part.text);
  if (values.ok() || part.line == 1) return values;
  // It is parsed again, below as many empty lines as stand before it, so that the error has the
  // file's line number.
  return yaml::ParseAll(absl::StrCat(std::string(part.line - 1, '\n'), part.text));
}

BadDocument BadDocumentOf(const std::string& file, absl::string_view text, absl::Status status) {
  BadDocument bad{.file = file, .status = std::move(status)};
  if (const auto position = yaml::ErrorPosition(bad.status)) {
    bad.line = position->line;
    bad.column = position->column;
  }
  const std::vector<absl::string_view> lines = absl::StrSplit(text, '\n');
  const auto index = static_cast<size_t>(bad.line - 1);
  if (index < lines.size()) bad.source = std::string(lines[index]);
  bad.column = std::min(bad.column, static_cast<int>(bad.source.size()) + 1);
  return bad;
}

// Turns "invalid YAML at line 1, column 2: why" into "invalid YAML: why".
std::string WithoutPlace(const absl::Status& status) {
  const absl::string_view message = status.message();
  const size_t at = message.find(" at line ");
  const size_t end = message.find(": ", at);
  if (at == absl::string_view::npos || end == absl::string_view::npos) return std::string(message);
  return absl::StrCat(message.substr(0, at), message.substr(end));
}

// Such as the output of `kubectl get -o yaml`.
bool IsList(const json::Value& value) {
  return absl::EndsWith(value["kind"].AsString(), "List") && value["items"].is_array();
}

void AddItems(const Document& list, std::vector<Document>& documents) {
  int index = 0;
  for (const json::Value& item : list.value["items"].items()) {
    documents.push_back(list);
    documents.back().value = item;
    documents.back().path = {"items", absl::StrCat(index++)};
  }
}

bool HasManifestName(const fs::path& path) {
  const std::string extension = path.extension().string();
  return extension == ".yaml" || extension == ".yml" || extension == ".json";
}

template <class Iterator>
absl::Status AddFilesBelow(const std::string& directory, std::vector<std::string>& files) {
  std::vector<std::string> found;
  std::error_code error;
  for (auto it = Iterator(directory, error); !error && it != Iterator(); it.increment(error)) {
    std::error_code ignored;  // A file that has vanished meanwhile is ignored.
    if (it->is_regular_file(ignored) && HasManifestName(it->path())) {
      found.push_back(it->path().string());
    }
  }
  if (error) {
    return absl::NotFoundError(absl::StrCat(directory, " cannot be read: ", error.message()));
  }
  std::sort(found.begin(), found.end());
  files.insert(files.end(), found.begin(), found.end());
  return absl::OkStatus();
}

}  // namespace

std::string DisplayName(const std::string& path) {
  return path == kStdin ? "standard input" : path;
}

std::string Document::Where() const {
  if (count == 1) return file;
  return absl::StrCat(file, ", document ", number, ", line ", line);
}

std::vector<DocumentText> SplitDocuments(absl::string_view text) {
  std::vector<DocumentText> parts;
  const auto add = [&](size_t begin, size_t end, int line) {
    const absl::string_view part = text.substr(begin, end - begin);
    if (!IsBlank(part)) parts.push_back({line, part});
  };
  size_t begin = 0;
  int begin_line = 1, line = 1;
  for (size_t at = 0; at < text.size(); ++line) {
    const size_t end = std::min(text.find('\n', at), text.size());
    // A separator at the very beginning opens the first document and ends none.
    if (at > begin && IsSeparator(text.substr(at, end - at))) {
      add(begin, at, begin_line);
      begin = at;
      begin_line = line;
    }
    at = end + 1;
  }
  add(begin, text.size(), begin_line);
  return parts;
}

ReadText ReadDocuments(const std::string& file, absl::string_view text) {
  std::vector<DocumentText> parts = SplitDocuments(text);
  // "---" inside a JSON string begins no document.
  if (LooksLikeJson(text)) parts = {{1, text}};
  ReadText read;
  int number = 0;
  for (const DocumentText& part : parts) {
    ++number;
    auto values = ParseOne(part);
    if (!values.ok()) {
      const std::string where =
          parts.size() == 1 ? file : absl::StrCat(file, ", document ", number);
      read.bad.push_back(BadDocumentOf(file, text, base::Annotate(values.status(), where)));
      read.bad.back().message = WithoutPlace(values.status());
      continue;
    }
    for (json::Value& value : *values) {
      Document document{file,
                        number,
                        static_cast<int>(parts.size()),
                        part.line,
                        std::make_shared<const std::string>(part.text),
                        std::move(value)};
      if (IsList(document.value)) {
        AddItems(document, read.documents);
      } else {
        read.documents.push_back(std::move(document));
      }
    }
  }
  return read;
}

absl::StatusOr<std::vector<Document>> ParseDocuments(const std::string& file,
                                                     absl::string_view text) {
  ReadText read = ReadDocuments(file, text);
  if (!read.bad.empty()) return read.bad.front().status;
  return std::move(read.documents);
}

absl::StatusOr<std::vector<std::string>> FindFiles(const std::vector<std::string>& paths,
                                                   bool recursive) {
  std::vector<std::string> files;
  for (const std::string& path : paths) {
    std::error_code error;
    if (path != kStdin && fs::is_directory(path, error)) {
      RETURN_IF_ERROR(recursive ? AddFilesBelow<fs::recursive_directory_iterator>(path, files)
                                : AddFilesBelow<fs::directory_iterator>(path, files));
    } else if (path == kStdin || fs::exists(path, error)) {
      files.push_back(path);
    } else {
      return absl::NotFoundError(absl::StrCat("the path \"", path, "\" does not exist"));
    }
  }
  return files;
}

absl::StatusOr<std::string> DocumentReader::Text(const std::string& path) {
  if (path == kStdin) {
    if (in_was_read_) {
      return absl::InvalidArgumentError("standard input (-) can be given only once");
    }
    in_was_read_ = true;
    return std::string(std::istreambuf_iterator<char>(in_), {});
  }
  return base::ReadFile(path);
}

absl::StatusOr<std::vector<Document>> DocumentReader::Documents(const std::string& path) {
  ASSIGN_OR_RETURN(const std::string text, Text(path));
  return ParseDocuments(DisplayName(path), text);
}

absl::StatusOr<std::vector<Document>> DocumentReader::DocumentsOf(
    const std::vector<std::string>& paths, bool recursive) {
  ASSIGN_OR_RETURN(const std::vector<std::string> files, FindFiles(paths, recursive));
  std::vector<Document> all;
  for (const std::string& file : files) {
    ASSIGN_OR_RETURN(std::vector<Document> documents, Documents(file));
    all.insert(all.end(), std::make_move_iterator(documents.begin()),
               std::make_move_iterator(documents.end()));
  }
  return all;
}

}  // namespace tool
