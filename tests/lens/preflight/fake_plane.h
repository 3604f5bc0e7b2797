// A control plane of upstream's as a preflight sees it: discovery, and answers to its requests.
#ifndef TESTS_LENS_PREFLIGHT_FAKE_PLANE_H_
#define TESTS_LENS_PREFLIGHT_FAKE_PLANE_H_

#include <cstdint>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "base/clock.h"
#include "kube/discovery/rest_mapper.h"
#include "kube/http/transport.h"
#include "lens/preflight/facts.h"
#include "lens/preflight/report.h"

namespace tests {

// Serves all of upstream's kinds without an object, until a test changes that.
class FakePlane {
 public:
  FakePlane();

  kube::Discovery discovery;
  std::map<std::string, int64_t> counts;       // By plural; the objects themselves are empty.
  std::map<std::string, std::string> objects;  // JSON of the items, by plural.
  std::map<std::string, std::string> stored;   // JSON of the list of versions, by plural.
  std::set<std::string> forbidden;             // Plurals, and "customresourcedefinitions".
  std::function<void()> on_request = [] {};
  bool says_how_many_remain = true;  // False: lists have no remainingItemCount.

  // Serves the kind in these versions only; the first one is preferred.
  void ServeAs(const std::string& plural, const std::vector<std::string>& versions);
  // Serves a kind that this program does not know.
  void ServeUnknown(const std::string& group, const std::string& plural, const std::string& kind);

  absl::StatusOr<lens::preflight::Facts> Read(const base::Clock& clock = base::RealClock()) const;
  // Reads and judges. REQUIRES: the plane can be read.
  std::vector<lens::preflight::Row> Rows() const;

 private:
  kube::HttpResponse AnswerTo(const std::string& path) const;
  kube::HttpResponse List(const std::string& plural, bool is_first_only) const;
};

// Returns the row of that name. REQUIRES: there is one.
lens::preflight::Row RowOf(const std::vector<lens::preflight::Row>& rows, const std::string& name);

}  // namespace tests

#endif  // TESTS_LENS_PREFLIGHT_FAKE_PLANE_H_
