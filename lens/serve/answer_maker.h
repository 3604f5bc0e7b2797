// Makes the answers that are shared (shared_answers.h), on threads, each within its time.
#ifndef LENS_SERVE_ANSWER_MAKER_H_
#define LENS_SERVE_ANSWER_MAKER_H_

#include <functional>
#include <memory>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "base/json.h"
#include "base/stop_token.h"
#include "base/timers.h"
#include "config/options.h"
#include "kube/aggregation/work_pool.h"
#include "lens/serve/bounds.h"
#include "lens/serve/exchange.h"
#include "lens/serve/parameters.h"
#include "lens/serve/routes.h"
#include "lens/serve/shared_answers.h"
#include "lens/serve/viewer.h"
#include "lens/why/chain.h"

namespace lens::serve {

// What is asked, and by whom.
struct Wanted {
  ViewerPtr viewer;
  const Route& route;
  Parameters parameters;
};

// Thread-safe.
class AnswerMaker {
 public:
  struct Parts {
    base::Timers& timers;
    base::StopToken stop;  // The server stops.
    std::function<kube::aggregation::WorkPool*(Work)> pool_of;
    // Says in one sentence, and soon, that the control plane does not answer, or lets nobody in.
    std::function<absl::Status(Viewer&, const base::StopToken&)> check_plane;
    const why::Question& flags;
    const config::Options& daemon;
  };

  // REQUIRES: `parts` outlive this object, which outlives what runs in the pools.
  explicit AnswerMaker(Parts parts) : parts_(std::move(parts)) {}

  // Answers, at once or when somebody has made the answer.
  void Answer(Wanted wanted, const ExchangePtr& exchange);
  // Forgets answers that are too old to be shown.
  void ForgetOld();

 private:
  struct Job {
    Wanted wanted;
    SharedQuestion question;
  };
  using JobPtr = std::shared_ptr<const Job>;

  // Has the answer made, and those after it that are wanted by then.
  void Make(const JobPtr& job);
  void MakeNow(const JobPtr& job);
  void Finish(const JobPtr& job, const absl::StatusOr<json::Value>& made);
  absl::StatusOr<json::Value> Made(const Wanted& wanted, const base::StopToken& stop) const;

  const Parts parts_;
  SharedAnswers answers_{kMostSharedBytes};
};

}  // namespace lens::serve

#endif  // LENS_SERVE_ANSWER_MAKER_H_
