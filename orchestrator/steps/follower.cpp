#include "orchestrator/steps/follower.h"

#include <fmt/format.h>

#include "burnin/stage.h"
#include "inventory/model.h"
#include "inventory/node.h"
#include "orchestrator/ssh/libraries.h"
#include "orchestrator/ssh/missing_program.h"
#include "orchestrator/steps/bmc_watch.h"
#include "playbooks/plan.h"

namespace cupel::steps {
namespace {

using engine::StepRequest;
using std::chrono::milliseconds;
using std::chrono::seconds;

constexpr seconds kConnectPatience{15};
constexpr seconds kReadPatience{10};    // how long the node waits for news before it answers "none"
constexpr seconds kBringPatience{300};  // programs of ours, over a slow line
constexpr seconds kTellPatience{25};
constexpr seconds kBringLibrariesPatience{1800};  // 760 MB; cut off, they go on where they were
constexpr seconds kSilence{60};  // a heart that beats every ten seconds has missed five by then
constexpr seconds kCleanUpPatience{10};
constexpr milliseconds kFirstPause{500};
constexpr milliseconds kLongestPause{5000};
constexpr std::size_t kOutputLimit = 32u << 20;
constexpr std::string_view kBurnProgram = "cupel-burn";

/// A node that SSH does not reach comes back, or it is gone, and nobody need wait for it: that its
/// BMC knows.
class Absence {
 public:
  explicit Absence(StepEnvironment& environment) : environment_{environment} {}

  /// Why the node will not come back by itself; empty: it may. Off twice in a row, since a restart
  /// turns a machine off for a moment; or its log says that the system has stopped.
  Task<std::string> why_for_good(const StepRequest& request) {
    if (Deadline::Clock::now() < next_) co_return "";
    const auto bmc = environment_.bmc(request.node);
    const auto power = co_await bmc->power.state(request.deadline.sooner(kConnectPatience));
    std::string stop;
    if (power) stop = co_await system_stop_in_log(environment_, *bmc, request);
    co_await bmc->log_out();
    const bool off = power && power->value == bmc::PowerState::off;
    off_ = off ? off_ + 1 : 0;
    next_ = Deadline::Clock::now() + environment_.ask_power_every;
    if (off_ == 2) co_return "its BMC says that it is off";
    if (!stop.empty()) co_return "its system has stopped; the BMC's log: " + stop;
    co_return "";
  }

 private:
  StepEnvironment& environment_;
  Deadline::Clock::time_point next_ = Deadline::Clock::now() + environment_.ask_power_every;
  int off_ = 0;
};

/// Whether this machine has one to bring.
bool has_node_program(const StepEnvironment& environment) {
  return environment.programs && ssh::file_of(*environment.programs, ssh::kNodeProgram).has_value();
}

}  // namespace

Task<Result<std::unique_ptr<ssh::Session>>> connected(StepEnvironment& environment,
                                                      const StepRequest& request, Deadline until,
                                                      WhenOff when_off) {
  Absence absence{environment};
  auto pause = kFirstPause;
  const auto begun = Deadline::Clock::now();
  for (;;) {
    const auto deadline = until.sooner(kConnectPatience);
    auto session = co_await environment.ssh(request.node, deadline);
    if (session) co_return session;
    auto& error = session.error();
    if (!is_transient(error.code)) co_return std::move(error);
    if (until.left() <= pause) co_return std::move(error);
    if (when_off == WhenOff::give_up) {
      const auto why = co_await absence.why_for_good(request);
      if (!why.empty()) co_return Error{Code::kFailed, why + "; SSH: " + error.what};
    }
    const auto waited = std::chrono::floor<seconds>(Deadline::Clock::now() - begun);
    request.waiting(fmt::format("SSH ({} s so far): {}", waited.count(), error.what));
    CO_TRY(co_await pause_for(pause));
    pause = std::min(pause * 2, kLongestPause);
  }
}

Task<Result<Spool>> Follower::follow() {
  for (;;) {
    // One that was idle may be dead without an error yet: it gets less time.
    const auto start_by = session_ ? request_.deadline.sooner(kConnectPatience) : request_.deadline;
    if (!session_) {
      auto session =
          co_await connected(environment_, request_, request_.deadline, WhenOff::give_up);
      if (!session) co_return std::move(session).error();
      session_ = *std::move(session);
    }
    auto ended = co_await start_and_read(start_by);
    if (ended) co_return std::move(spool_);
    auto& error = ended.error();
    const bool dropped = error.code == Code::kUnreachable || error.code == Code::kTimeout;
    const bool vanished = error.code == Code::kNotFound && has_node_program(environment_);
    if (!(dropped || vanished) || request_.deadline.passed()) co_return std::move(error);
    session_.reset();
    request_.waiting((dropped ? "the connection broke; the stage goes on by itself: "
                              : "cupel-node is gone from the node, and is brought again: ") +
                     error.what);
    CO_TRY(co_await pause_for(kFirstPause));
  }
}

Task<void> Follower::clean_up() {
  if (!session_) co_return;
  const auto forgetting = Deadline::in(kCleanUpPatience);
  [[maybe_unused]] const auto gone = co_await ssh::forget_job(*session_, handle_, forgetting);
}

/// Errors: as ssh::start_job(); kFailed: no cupel-node runs there.
Task<Result<void>> Follower::start(Deadline start_by) {
  const auto& job = *request_.step.job;
  CO_TRY(const auto brought, co_await bring_programs());
  if (!brought.why_not.empty()) co_return Error{Code::kFailed, brought.why_not};
  if (brought.started) co_return ok();
  auto started = co_await ssh::start_job(*session_, handle_, job.script, job.limit, start_by);
  // No fault of the node where we should have brought it.
  const bool ours = !started && started.error().code == Code::kNotFound && environment_.programs;
  if (ours && !has_node_program(environment_))
    co_return Error{
        Code::kNotFound,
        started.error().what + "; " + ssh::why_missing(*environment_.programs, ssh::kNodeProgram)};
  co_return started;
}

Task<Result<void>> Follower::start_and_read(Deadline start_by) {
  CO_TRY(co_await start(start_by));
  request_.waiting("");
  for (;;) {
    CO_TRY(const auto patience, patience_with_silence());
    const auto deadline = request_.deadline.sooner(patience + kConnectPatience);
    CO_TRY(auto state, co_await ssh::read_job(*session_, handle_, spool_.output.text.size(),
                                              spool_.output.errors.size(), patience, deadline));
    tell_silence(state.silent_for);
    spool_.output.text += state.out;
    if (on_output && !state.out.empty()) on_output(state.out);
    spool_.output.errors += state.err;
    if (spool_.output.text.size() + spool_.output.errors.size() > kOutputLimit)
      co_return Error{Code::kMalformed, "the stage printed more than 32 MiB"};
    if (state.phase == ssh::JobState::Phase::running) {
      CO_TRY(co_await tell());
      if (meanwhile) co_await meanwhile(*session_);
      continue;
    }
    spool_.output.exit_status = state.exit_status;
    spool_.stopped = state.phase == ssh::JobState::Phase::stopped;
    spool_.lost = !spool_.stopped && state.phase != ssh::JobState::Phase::ended;
    co_return ok();
  }
}

/// A node that cannot write it down goes on by itself in the end.
Task<Result<void>> Follower::tell() {
  auto word_now = word ? word() : std::string{};
  if (word_now.empty() || word_now == reported_) co_return ok();
  auto reported =
      co_await ssh::tell_job(*session_, handle_, word_now, request_.deadline.sooner(kTellPatience));
  if (!reported && reported.error().code != Code::kFailed) co_return reported;
  reported_ = std::move(word_now);
  co_return ok();
}

/// A job whose supervisor hangs is not ended by it: then only the step's deadline does.
void Follower::tell_silence(std::optional<std::chrono::duration<double>> silent_for) {
  const bool silent = silent_for && *silent_for > kSilence;
  const auto before = std::exchange(silence_, {});
  if (silent)
    silence_ = fmt::format(
        "nothing heard for {:.0f} s of the cupel-node that looks after the stage: it hangs, or "
        "the node does",
        silent_for->count());
  if (silent || !before.empty()) request_.waiting(silence_);
}

/// For how long the next reading may wait. Errors: kFailed: it is silent, and the time is over;
/// said a little before the engine would only say that the time is over.
Result<seconds> Follower::patience_with_silence() const {
  if (silence_.empty()) return kReadPatience;
  const auto left = std::chrono::floor<seconds>(last_word_.left());
  if (left < seconds{1}) return Error{Code::kFailed, silence_ + "; its deadline is over"};
  return std::min(left, kReadPatience);
}

/// The node's cupel-node, and what the stage runs of our programs. Whatever of them the
/// controller has not got, the node may have by itself.
Task<Result<ssh::Brought>> Follower::bring_programs() {
  if (!environment_.programs) co_return ssh::Brought{};
  const auto* stage = burnin::stage(request_.step.name);
  const bool burns = stage != nullptr &&
                     std::ranges::find(stage->programs, kBurnProgram) != stage->programs.end() &&
                     environment_.inventory.profile_of(request_.node).has_gpus();
  std::vector<std::string> names{std::string{ssh::kNodeProgram}};
  if (burns) names.emplace_back(kBurnProgram);
  CO_TRY(auto brought, co_await ssh::ensure_programs(
                           *session_, *environment_.programs, std::move(names), handle_.folder,
                           request_.node.ssh.sudo, request_.deadline.sooner(kBringPatience)));
  if (!burns || brought.started) co_return brought;
  const auto deadline = request_.deadline.sooner(kBringLibrariesPatience);
  CO_TRY(co_await ssh::ensure_libraries(*session_, *environment_.programs, request_.node.ssh.sudo,
                                        request_.waiting, deadline));
  co_return brought;
}

}  // namespace cupel::steps
