#include "orchestrator/steps/stage_beside.h"

#include "base/all_or_none.h"
#include "burnin/board/feeds.h"
#include "burnin/stage.h"
#include "orchestrator/steps/feed_watch.h"
#include "orchestrator/steps/inlets.h"
#include "playbooks/plan.h"

namespace cupel::steps {

using engine::StepEnd;
using engine::StepRequest;

namespace {

/// What goes on beside a stage whose sensors are read.
struct Beside {
  std::shared_ptr<Follower> follower;
  SensorWatch sensors;
  std::optional<FeedWatch> feeds{};
  std::optional<Result<Spool>> spool{};
};

enum class Work { follow, read, take_feeds };

/// Whoever follows ends the others by ending itself, with what is no failure.
Task<Result<bool>> work_beside(Beside& beside, Work work) {
  if (work == Work::follow) {
    beside.spool.emplace(co_await beside.follower->follow());
    co_return Error{Code::kFailed, "ended"};
  }
  if (work == Work::take_feeds) {
    CO_TRY(co_await beside.feeds->take_each());
    co_return true;
  }
  co_await beside.sensors.read();
  co_return true;
}

/// A node that went down with one of its feeds has ended its stage in its own way.
bool went_down(Beside& beside) {
  const auto& spool = beside.spool;
  const bool gone = spool && (*spool ? (*spool)->lost : spool->error().code == Code::kFailed);
  if (!beside.feeds) return false;
  return beside.feeds->went_down() || (gone && beside.feeds->went_down_by_a_feed());
}

}  // namespace

Task<void> read_beside(StepEnvironment& environment, const StepRequest& request,
                       burnin::Output& output) {
  if (!burnin::stage(request.step.name)->beside.neighbour_inlets) co_return;
  request.waiting("the air of its neighbours");
  output.beside = co_await inlets_around(environment, request);
}

Task<Result<Spool>> follow_and_read(StepEnvironment& environment, const StepRequest& request,
                                    const std::shared_ptr<Follower>& follower) {
  if (!burnin::stage(request.step.name)->beside.bmc_sensors) co_return co_await follower->follow();
  Beside beside{follower, SensorWatch{environment, request}};
  std::vector<Work> works{Work::follow, Work::read};
  // Of one that was found again nobody has read the phases before: it is done anew.
  if (!request.handle && burnin::takes_feeds(request.step.name, request.step.with)) {
    beside.feeds.emplace(environment, request, beside.sensors);
    works.push_back(Work::take_feeds);
  }
  follower->on_output = [&beside](std::string_view piece) { beside.sensors.heard(piece); };
  follower->word = [&beside]() {
    const bool taken = beside.feeds && beside.feeds->done();
    return taken ? std::string{burnin::kFeedPhase} : beside.sensors.read_enough();
  };
  const auto work = [&beside](Work one) { return work_beside(beside, one); };
  [[maybe_unused]] const auto ended = co_await all_or_none<bool>(std::move(works), work);
  follower->on_output = {};
  follower->word = {};
  if (went_down(beside)) beside.spool.emplace(Spool{});
  if (!beside.spool) co_return Error{Code::kCancelled, "stopped"};
  if (*beside.spool) (*beside.spool)->output.beside = beside.sensors.reported();
  co_return std::move(*beside.spool);
}

}  // namespace cupel::steps
