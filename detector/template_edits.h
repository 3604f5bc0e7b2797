// Remembers which templates were edited since their binding was last brought up to date.
//
// A binding records the template's resourceVersion, and a new value makes scheduler and binding
// loop look again. The recorded version must change when the template's specification changed, and
// must not when only its status did or when this process restarted: that would rewrite every
// binding.
//
// This memory may be empty at any moment. Then the recorded version stays old, but nothing is lost:
// when a template's version differs from the recorded one and no edit is known, the detector asks
// the loops to compare what the template yields with what is there (works/rechecks.h).
#ifndef DETECTOR_TEMPLATE_EDITS_H_
#define DETECTOR_TEMPLATE_EDITS_H_

#include <cstdint>
#include <string>
#include <utility>

#include "absl/strings/numbers.h"
#include "absl/strings/string_view.h"
#include "detector/per_template.h"
#include "kube/runtime/reconciler.h"

namespace detector {

struct TemplateEdit {
  std::string version;
  // The server went back to this version: every other one is of a history that is over.
  bool went_back = false;
};

// Holds the resourceVersion after the last edit of each template. Thread-safe.
class TemplateEdits : public PerTemplate<TemplateEdit> {
 public:
  // Records that the template's specification was changed, which gave it this resourceVersion.
  void Add(kube::Request request, absl::string_view version) {
    Change(std::move(request), [&](TemplateEdit& edit) {
      edit = {std::string(version), edit.went_back && edit.version == version};
    });
  }
  // Records that the template has an earlier state again, that of this resourceVersion, because its
  // server was restored from a backup.
  void AddRestored(kube::Request request, absl::string_view version) {
    Set(std::move(request), {std::string(version), /*went_back=*/true});
  }
  // Returns whether an edit after `version` is known, and forgets one before it.
  bool HasSince(const kube::Request& request, absl::string_view version) {
    return HasOrForget(request, [&](const TemplateEdit& edit) {
      return edit.went_back ? edit.version != version : IsLater(edit.version, version);
    });
  }
  // Returns whether the last edit gave the template exactly this version, and forgets it then.
  bool Take(const kube::Request& request, absl::string_view version) {
    bool taken = false;
    HasOrForget(request, [&](const TemplateEdit& edit) {
      taken = edit.version == version;
      return !taken;
    });
    return taken;
  }

  // Versions that are not numbers cannot be ordered; then any different version counts as later.
  static bool IsLater(absl::string_view version, absl::string_view than) {
    int64_t a = 0, b = 0;
    if (!absl::SimpleAtoi(version, &a) || !absl::SimpleAtoi(than, &b)) return version != than;
    return a > b;
  }
};

// Holds the resourceVersions of templates about which the server was asked whether anybody has
// edited them, and said no. Thread-safe.
class AskedVersions : public PerTemplate<std::string> {
 public:
  void Add(kube::Request request, absl::string_view version) {
    Set(std::move(request), std::string(version));
  }
  // Returns whether the server was asked about this version, and forgets another one.
  bool Has(const kube::Request& request, absl::string_view version) {
    return HasOrForget(request, [&](const std::string& asked) { return asked == version; });
  }
};

}  // namespace detector

#endif  // DETECTOR_TEMPLATE_EDITS_H_
