// The files of the page, which are compiled in: lens/serve/page.
#ifndef LENS_SERVE_ASSETS_H_
#define LENS_SERVE_ASSETS_H_

#include <string>

#include "absl/strings/string_view.h"

namespace lens::serve {

// The texts; cmake/EmbedText.cmake makes these functions.
absl::string_view IndexHtml();
absl::string_view PageCss();
absl::string_view IconSvg();
absl::string_view MainJs();
absl::string_view NetJs();
absl::string_view DomJs();
absl::string_view JourneyJs();
absl::string_view ListViewsJs();
absl::string_view AskViewsJs();
absl::string_view ObjectViewJs();
absl::string_view SettingsJs();

struct Asset {
  absl::string_view text;
  const char* content_type;
  std::string etag;  // A digest of the text.
};

// Returns the file of that path, such as "/page.css"; nullptr when there is none.
const Asset* FindAsset(absl::string_view path);

}  // namespace lens::serve

#endif  // LENS_SERVE_ASSETS_H_
