#include "lens/serve/assets.h"

#include <map>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "base/digest.h"

namespace lens::serve {
namespace {

constexpr char kHtml[] = "text/html; charset=utf-8";
constexpr char kSvg[] = "image/svg+xml";
constexpr char kCss[] = "text/css; charset=utf-8";
constexpr char kScript[] = "text/javascript; charset=utf-8";

Asset Make(absl::string_view text, const char* content_type) {
  const std::string digest = absl::BytesToHexString(base::Sha256(text).substr(0, 12));
  return {text, content_type, absl::StrCat("\"", digest, "\"")};
}

std::map<absl::string_view, Asset> MakeAll() {
  return {{"/", Make(IndexHtml(), kHtml)},
          {"/index.html", Make(IndexHtml(), kHtml)},
          {"/page.css", Make(PageCss(), kCss)},
          {"/main.js", Make(MainJs(), kScript)},
          {"/icon.svg", Make(IconSvg(), kSvg)},
          {"/net.js", Make(NetJs(), kScript)},
          {"/ask-views.js", Make(AskViewsJs(), kScript)},
          {"/dom.js", Make(DomJs(), kScript)},
          {"/journey.js", Make(JourneyJs(), kScript)},
          {"/list-views.js", Make(ListViewsJs(), kScript)},
          {"/object-view.js", Make(ObjectViewJs(), kScript)},
          {"/settings.js", Make(SettingsJs(), kScript)}};
}

}  // namespace

const Asset* FindAsset(absl::string_view path) {
  static const auto& all = *new std::map<absl::string_view, Asset>(MakeAll());
  const auto found = all.find(path);
  return found == all.end() ? nullptr : &found->second;
}

}  // namespace lens::serve
