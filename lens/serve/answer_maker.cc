// Who asks waits until the answer is there, the time of the question is over, or the client has
// gone. The answer has a time of its own, from when a thread has begun with it, because others may
// join who ask for it then. What is made when the server stops is dropped.

#include "lens/serve/answer_maker.h"

#include <malloc.h>

#include <exception>

#include "absl/strings/str_cat.h"
#include "base/clock.h"
#include "base/log.h"
#include "base/status.h"
#include "lens/serve/shown.h"

namespace lens::serve {

void AnswerMaker::Answer(Wanted wanted, const ExchangePtr& exchange) {
  const FleetAnswerPtr last = wanted.viewer->fleet().Last();
  const auto not_before = last == nullptr ? base::SteadyTime::InfinitePast() : last->ended;
  SharedQuestion question{absl::StrCat(wanted.viewer->owner(), "#", wanted.viewer->version()),
                          absl::StrCat(wanted.route.path, wanted.parameters.Text())};
  const auto job = std::make_shared<const Job>(Job{std::move(wanted), std::move(question)});
  const auto send = [exchange](const SharedAnswerPtr& answer) {
    if (!answer->status.ok()) return exchange->Send(answer->status);
    exchange->SendShared(answer->json, JsonHead(200));
  };
  const auto place = answers_.Want(job->question, not_before, base::RealClock().SteadyNow(), send);
  if (!place.ok()) return exchange->Send(place.status());
  if (place->ticket == 0) return;
  exchange->OnEnd([this, job, ticket = place->ticket, weak = std::weak_ptr(exchange)] {
    const ExchangePtr waits = weak.lock();
    if (waits == nullptr || !answers_.GiveUp(job->question, ticket)) return;
    waits->Send(absl::CancelledError("it is still being made"));
  });
  if (place->has_to_make) Make(job);
}

void AnswerMaker::Make(const JobPtr& job) {
  const Wanted& wanted = job->wanted;
  const bool runs = parts_.pool_of(wanted.route.work)->Run(wanted.viewer->owner(), [this, job] {
    MakeNow(job);
    if (job->wanted.route.work != Work::kOne) malloc_trim(0);
  });
  if (runs) return;
  Finish(job, absl::ResourceExhaustedError("too many questions are being answered at the moment: "
                                           "try again in a few seconds"));
}

void AnswerMaker::MakeNow(const JobPtr& job) {
  const auto end = answers_.Begin(job->question, base::RealClock().SteadyNow());
  const base::StopCallback on_stop(parts_.stop,
                                   [&] { end->Because(absl::CancelledError("the server stops")); });
  const absl::Duration patience = job->wanted.route.patience;
  const auto timer = parts_.timers.After(patience, [end, patience] {
    end->Because(absl::DeadlineExceededError(
        absl::StrCat("the answer was not complete within ", absl::FormatDuration(patience))));
  });
  auto made = Made(job->wanted, end->stop());
  parts_.timers.Cancel(timer);
  if (const absl::Status why = end->why(); !why.ok()) made = why;
  Finish(job, made);
}

absl::StatusOr<json::Value> AnswerMaker::Made(const Wanted& wanted,
                                              const base::StopToken& stop) const {
  try {
    RETURN_IF_ERROR(parts_.check_plane(*wanted.viewer, stop));
    return wanted.route.view(
        {*wanted.viewer, wanted.parameters, parts_.flags, parts_.daemon, stop});
  } catch (const std::exception& error) {
    base::LogError("a question could not be answered", {{"error", error.what()}});
    return absl::InternalError("the answer could not be made");
  }
}

void AnswerMaker::Finish(const JobPtr& job, const absl::StatusOr<json::Value>& made) {
  if (answers_.Finish(job->question, made, base::RealClock().SteadyNow())) Make(job);
}

void AnswerMaker::ForgetOld() { answers_.ForgetOld(base::RealClock().SteadyNow()); }

}  // namespace lens::serve
