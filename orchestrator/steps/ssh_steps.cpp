// What is asked of the node itself: does it answer, and the burn-in stages that run on it.
#include <fmt/format.h>
#include <openssl/rand.h>

#include "base/all_or_none.h"
#include "base/digest.h"
#include "base/for_each_of.h"
#include "base/text.h"
#include "burnin/node/thermal.h"
#include "burnin/settings/settings.h"
#include "orchestrator/record/codec.h"
#include "orchestrator/ssh/detached.h"
#include "orchestrator/ssh/libraries.h"
#include "orchestrator/steps/bmc_watch.h"
#include "orchestrator/steps/inlets.h"
#include "orchestrator/steps/node_steps.h"

namespace cupel::steps {
namespace {

using engine::StepEnd;
using engine::StepRequest;
using std::chrono::milliseconds;
using std::chrono::seconds;

constexpr seconds kConnectPatience{15};
constexpr seconds kBmcPatience{15};     // what it says of a node that did not come
constexpr seconds kReadPatience{10};    // how long the node waits for news before it answers "none"
constexpr seconds kBringPatience{300};  // programs of ours, over a slow line
constexpr seconds kTellPatience{25};
constexpr seconds kBringLibrariesPatience{1800};  // 760 MB; cut off, they go on where they were
constexpr seconds kSilence{60};  // a heart that beats every ten seconds has missed five by then
constexpr seconds kCleanUpPatience{10};
constexpr seconds kStopPatience{30};  // TERM, and KILL for a supervisor that does not hear it
/// A node that is not reached in this time is not waited for: what runs there has its own limit.
constexpr seconds kLetGoPatience{60};
constexpr std::size_t kCleanUpsAtOnce = 32;
constexpr milliseconds kFirstPause{500};
constexpr milliseconds kLongestPause{5000};
constexpr std::size_t kOutputLimit = 32u << 20;
constexpr std::string_view kBurnProgram = "cupel-burn";

/// A node that SSH does not reach comes back, or it is gone, and nobody need wait for it: that its
/// BMC knows. Twice in a row, since a restart turns a machine off for a moment.
class Absence {
 public:
  explicit Absence(const Doors& doors) : doors_{doors} {}

  Task<bool> is_for_good(const StepRequest& request) {
    if (Deadline::Clock::now() < next_) co_return false;
    const auto bmc = doors_.bmc(request.node);
    const auto power = co_await bmc->power_state(request.deadline.sooner(kConnectPatience));
    co_await bmc->log_out();
    const bool off = power && power.assume_value().value == bmc::PowerState::off;
    off_ = off ? off_ + 1 : 0;
    next_ = Deadline::Clock::now() + doors_.ask_power_every;
    co_return off_ == 2;
  }

 private:
  const Doors& doors_;
  Deadline::Clock::time_point next_ = Deadline::Clock::now() + doors_.ask_power_every;
  int off_ = 0;
};

/// `absence`: where there is something to lose by waiting. Errors: kFailed: it is off.
Task<Result<std::unique_ptr<ssh::Session>>> connected(Doors& doors, const StepRequest& request,
                                                      Deadline until,
                                                      std::optional<Absence> absence = {}) {
  auto pause = kFirstPause;
  const auto begun = Deadline::Clock::now();
  for (;;) {
    const auto deadline = until.sooner(kConnectPatience);
    auto session = co_await doors.ssh(request.node, deadline);
    if (session) co_return session;
    auto& error = session.assume_error();
    if (!is_transient(error.code)) co_return std::move(error);
    if (until.left() <= pause) co_return std::move(error);
    if (absence) {
      const bool gone = co_await absence->is_for_good(request);
      if (gone) co_return Error{Code::kFailed, "its BMC says that it is off; SSH: " + error.what};
    }
    const auto waited = std::chrono::floor<seconds>(Deadline::Clock::now() - begun);
    request.waiting(fmt::format("SSH ({} s so far): {}", waited.count(), error.what));
    CO_TRY(co_await pause_for(pause));
    pause = std::min(pause * 2, kLongestPause);
  }
}

/// A name that no other run, store or controller has ever used: an old job's output must never be
/// taken for a new one's. Nobody on the node can guess it, and so put something there before.
std::string fresh_folder(const StepRequest& request) {
  std::array<unsigned char, 8> random{};
  RAND_bytes(random.data(), random.size());
  std::string token;
  for (const auto byte : random) token += fmt::format("{:02x}", byte);
  return fmt::format("/var/tmp/cupel-{}-run{}-{}", token, request.run, request.step.name);
}

struct Spool {
  burnin::Output output{};
  bool lost = false;
  bool stopped = false;
  std::string why_by_shell{};  // why no cupel-node looks after it, though one was to
};

/// `thermal` and `psu` burn GPUs where there are any.
bool has_gpus(const inventory::Profile& profile) {
  return std::ranges::any_of(profile.parts, [](const auto& part) {
    return part.kind == inventory::PartKind::gpu && part.count > 0;
  });
}

/// Reads until the job has ended, over as many connections as it takes.
class Follower {
 public:
  /// `request` need only live until follow() has ended.
  Follower(Doors& doors, const StepRequest& request, ssh::JobHandle handle)
      : doors_{doors},
        request_{request},
        handle_{std::move(handle)},
        last_word_{with_last_word(request.deadline)} {}

  Task<Result<Spool>> follow() {
    for (;;) {
      auto session = co_await connected(doors_, request_, request_.deadline, Absence{doors_});
      if (!session) co_return std::move(session).assume_error();
      session_ = std::move(session).assume_value();
      auto ended = co_await start_and_read();
      if (ended) co_return std::move(spool_);
      auto& error = ended.assume_error();
      const bool dropped = error.code == Code::kUnreachable || error.code == Code::kTimeout;
      if (!dropped || request_.deadline.passed()) co_return std::move(error);
      request_.waiting("the connection broke; the stage goes on by itself: " + error.what);
      CO_TRY(co_await pause_for(kFirstPause));
    }
  }

  /// Called with each piece of standard output as it comes.
  std::function<void(std::string_view)> on_output{};
  /// Asked after each piece: what the job is to be told by now; empty: nothing.
  std::function<std::string()> word{};

  /// Of an ended job.
  Task<void> clean_up() {
    if (!session_) co_return;
    const auto forgetting = Deadline::in(kCleanUpPatience);
    [[maybe_unused]] const auto gone = co_await ssh::forget_job(*session_, handle_, forgetting);
  }

 private:
  Task<Result<void>> start_and_read() {
    const auto& job = *request_.step.job;
    CO_TRY(const auto brought, co_await bring_programs());
    spool_.why_by_shell = brought.why_not;
    CO_TRY(co_await ssh::start_job(*session_, handle_, job.script, job.limit,
                                   request_.node.ssh.sudo, request_.deadline,
                                   brought.keeper.value_or("")));
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
        continue;
      }
      spool_.output.exit_status = state.exit_status;
      spool_.stopped = state.phase == ssh::JobState::Phase::stopped;
      spool_.lost = !spool_.stopped && state.phase != ssh::JobState::Phase::ended;
      co_return ok();
    }
  }

  /// A node that cannot write it down goes on by itself in the end.
  Task<Result<void>> tell() {
    auto said = word ? word() : std::string{};
    if (said.empty() || said == told_) co_return ok();
    auto told = co_await ssh::tell_job(*session_, handle_, said, request_.node.ssh.sudo,
                                       request_.deadline.sooner(kTellPatience));
    if (!told && told.assume_error().code != Code::kFailed) co_return told;
    told_ = std::move(said);
    co_return ok();
  }

  /// A job whose supervisor hangs is not ended by it: then only the step's deadline does.
  void tell_silence(std::optional<std::chrono::duration<double>> silent_for) {
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
  Result<seconds> patience_with_silence() const {
    if (silence_.empty()) return kReadPatience;
    const auto left = std::chrono::floor<seconds>(last_word_.left());
    if (left < seconds{1}) return Error{Code::kFailed, silence_ + "; its deadline is over"};
    return std::min(left, kReadPatience);
  }

  /// What the stage runs of our programs, and the node's cupel-node. Whatever of them the
  /// controller has not got, the stage's script itself misses, in words.
  Task<Result<ssh::Brought>> bring_programs() {
    const auto* stage = burnin::stage(request_.step.name);
    if (stage == nullptr || stage->programs.empty() || !doors_.programs) co_return ssh::Brought{};
    const bool burns = std::ranges::find(stage->programs, kBurnProgram) != stage->programs.end() &&
                       has_gpus(doors_.inventory.profile_of(request_.node));
    std::vector<std::string> names{std::string{ssh::kNodeProgram}};
    for (const auto name : stage->programs)
      if (name != ssh::kNodeProgram && (burns || name != kBurnProgram)) names.emplace_back(name);
    CO_TRY(auto brought, co_await ssh::ensure_programs(
                             *session_, *doors_.programs, std::move(names), handle_.folder,
                             request_.node.ssh.sudo, request_.deadline.sooner(kBringPatience)));
    if (!burns || brought.started) co_return brought;
    const auto deadline = request_.deadline.sooner(kBringLibrariesPatience);
    CO_TRY(co_await ssh::ensure_libraries(*session_, *doors_.programs, request_.node.ssh.sudo,
                                          request_.waiting, deadline));
    co_return brought;
  }

  Doors& doors_;
  const StepRequest& request_;
  ssh::JobHandle handle_;
  std::unique_ptr<ssh::Session> session_{};
  Spool spool_{};
  std::string told_{};
  Deadline last_word_;
  std::string silence_{};  // what is said of it; empty: it lives
};

/// All that the tool said, as it is kept.
std::string evidence_of(const StepRequest& request, const burnin::Output& output) {
  return fmt::format(
      "# stage {} on {}, exit status {}\n# script\n{}\n# standard output\n{}\n"
      "# standard error\n{}\n{}{}",
      request.step.name, request.node.name, output.exit_status, request.step.job->script,
      output.text, output.errors, output.beside.empty() ? "" : "# what the BMC told meanwhile\n",
      output.beside);
}

/// The node's clock is held against ours while we still know when it was read.
boost::json::object facts_of(const burnin::Findings& findings) {
  boost::json::object facts;
  for (const auto& [name, value] : findings.facts) facts[name] = value;
  const auto told = findings.facts.find("node.epoch");
  const auto epoch = told == findings.facts.end() ? std::nullopt : number<double>(told->second);
  const std::chrono::duration<double> now = std::chrono::system_clock::now().time_since_epoch();
  if (epoch) facts[inventory::kNodeClockFact] = fmt::format("{:.0f}", *epoch - now.count());
  return facts;
}

Result<StepEnd> read_output(Doors& doors, const StepRequest& request, const Spool& spool) {
  constexpr int kEndedByLimit = 124;  // coreutils timeout(1)
  TRY(auto hash, doors.store.keep_evidence(evidence_of(request, spool.output)));
  StepEnd end;
  end.outcome = engine::Outcome::reject;
  end.found["evidence"] = hash;
  if (spool.stopped) {
    end.begin_anew = true;
    end.detail = "it was ended half done";
    return end;
  }
  if (spool.lost) {
    end.detail = "the stage vanished from the node: it restarted, or somebody ended it";
    return end;
  }
  if (spool.output.exit_status == kEndedByLimit) {
    end.found["hung"] = true;
    end.detail =
        fmt::format("hung: it was ended after its limit of {} s", request.step.job->limit.count());
    return end;
  }
  const auto& profile = doors.inventory.profile_of(request.node);
  auto findings = burnin::stage(request.step.name)->parse(profile, spool.output);
  if (!findings) {
    end.detail = findings.assume_error().what;
    if (!spool.why_by_shell.empty()) end.detail += "; " + spool.why_by_shell;
    end.found["error"] = to_string(findings.assume_error().code);
    // What was read before a controller died is gone with it: the phases must be gone through anew.
    end.begin_anew = request.handle && burnin::stage(request.step.name)->reads_sensors;
    return end;
  }
  auto found = record::to_json(findings.assume_value());
  found["evidence"] = hash;
  if (auto facts = facts_of(findings.assume_value()); !facts.empty())
    found["facts"] = std::move(facts);
  return done(fmt::format("{} measurements", findings.assume_value().measurements.size()),
              std::move(found));
}

/// One node's part in a stage that several do together.
struct Part {
  Doors& doors;
  StepRequest request;
  std::shared_ptr<Follower> follower{};
  std::optional<StepEnd> end{};
  std::function<void()> when_written{};
};

using Parts = std::vector<std::shared_ptr<Part>>;

/// Each node has a folder of its own; all of them are found again by the one handle of the step.
Parts parts_of(Doors& doors, const StepRequest& request, const std::string& handle) {
  Parts parts;
  for (const auto* member : request.members) {
    auto waiting = [tell = request.waiting, name = member->name](const std::string& what) {
      tell(what.empty() ? what : name + ": " + what);
    };
    const ssh::JobHandle folder{handle + "-" + member->name};
    StepRequest mine{request.run,   *member,          {},           request.step, request.attempt,
                     folder.folder, request.deadline, request.stop, {},           waiting};
    auto part = std::make_shared<Part>(Part{doors, std::move(mine)});
    part->follower = std::make_shared<Follower>(doors, part->request, folder);
    parts.push_back(std::move(part));
  }
  return parts;
}

/// What only the BMCs tell of a stage that has just ended.
Task<void> read_beside(Doors& doors, const StepRequest& request, burnin::Output& output) {
  if (burnin::base_name(request.step.name) != burnin::kThermal) co_return;
  request.waiting("the air of its neighbours");
  output.beside = co_await inlets_around(doors, request);
}

/// Errors: whatever makes the part of the others worthless.
Task<Result<bool>> do_part(const std::shared_ptr<Part>& part) {
  const auto& name = part->request.node.name;
  auto spool = co_await part->follower->follow();
  if (!spool) co_return std::move(spool).assume_error().within(name);
  co_await read_beside(part->doors, part->request, spool.assume_value().output);
  CO_TRY(part->end, read_output(part->doors, part->request, spool.assume_value()));
  LogWatch log{part->doors, part->request};
  co_await log.after(*part->end);
  part->when_written = log.when_written();
  if (part->end->outcome != engine::Outcome::done)
    co_return Error{Code::kFailed, name + ": " + part->end->detail};
  co_return true;
}

Task<void> clean_up_all(Parts parts) {
  const auto clean = [](const std::shared_ptr<Part>& part) -> Task<Result<bool>> {
    if (part->when_written) part->when_written();
    co_await part->follower->clean_up();
    co_return true;
  };
  [[maybe_unused]] const auto cleaned =
      co_await for_each_of<bool>(std::move(parts), kCleanUpsAtOnce, clean);
}

Task<Result<bool>> follow_into(std::shared_ptr<Follower> follower,
                               std::optional<Result<Spool>>& spool) {
  spool.emplace(co_await follower->follow());
  co_return Error{Code::kFailed, "ended"};
}

Task<Result<bool>> read_until_cancelled(SensorWatch& watch) {
  co_await watch.read();
  co_return true;
}

/// The stage, and where it asks for them the BMC's sensors read until it has ended.
Task<Result<Spool>> follow_and_read(Doors& doors, const StepRequest& request,
                                    const std::shared_ptr<Follower>& follower) {
  if (!burnin::stage(request.step.name)->reads_sensors) co_return co_await follower->follow();
  SensorWatch watch{doors, request};
  follower->on_output = [&watch](std::string_view piece) { watch.heard(piece); };
  follower->word = [&watch]() { return watch.read_enough(); };
  std::optional<Result<Spool>> spool;
  // Whoever follows ends the other by ending itself, with what is no failure.
  const auto work = [&](bool follows) -> Task<Result<bool>> {
    return follows ? follow_into(follower, spool) : read_until_cancelled(watch);
  };
  [[maybe_unused]] const auto ended = co_await all_or_none<bool>(std::vector<char>{1, 0}, work);
  follower->on_output = {};
  follower->word = {};
  if (!spool) co_return Error{Code::kCancelled, "stopped"};
  if (*spool) spool->assume_value().output.beside = watch.told();
  co_return std::move(*spool);
}

/// What was found on each node lies in one document, which all of their events name: a rack's
/// findings in each of its events would be the rack's square.
Result<void> keep_shares(Doors& doors, const Parts& parts, StepEnd& end) {
  boost::json::object shares;
  for (const auto& part : parts)
    if (part->end) shares[part->request.node.name] = part->end->found;
  TRY(const auto hash, doors.store.keep_evidence(boost::json::serialize(shares)));
  end.found["together"] = true;
  end.found["evidence"] = hash;
  return ok();
}

Task<Result<StepEnd>> run_together(Doors& doors, const StepRequest& request) {
  const auto handle = request.handle.value_or(fresh_folder(request));
  if (!request.handle) {
    CO_TRY(co_await request.started(handle));
  }
  const auto parts = parts_of(doors, request, handle);
  auto all = co_await all_or_none<bool>(parts, do_part);
  if (all) {
    auto end = done(fmt::format("measured on {} nodes together", parts.size()));
    CO_TRY(keep_shares(doors, parts, end));
    end.when_written = [parts]() { return clean_up_all(parts); };
    co_return end;
  }
  auto ended = ended_by(std::move(all).assume_error());
  if (ended) {
    auto& end = ended.assume_value();
    CO_TRY(keep_shares(doors, parts, end));
    end.begin_anew = std::ranges::any_of(
        parts, [](const auto& part) { return part->end && part->end->begin_anew; });
  }
  co_return ended;
}

/// One node's job.
Task<Result<bool>> end_part(const std::shared_ptr<Part>& part) {
  const auto& request = part->request;
  const auto& name = request.node.name;
  const ssh::JobHandle job{*request.handle};
  auto session = co_await connected(part->doors, request, request.deadline);
  if (!session) co_return std::move(session).assume_error().within(name);
  const auto stopping = request.deadline.sooner(kStopPatience);
  auto stopped = co_await ssh::stop_job(*session.assume_value(), job, stopping);
  if (!stopped) co_return std::move(stopped).assume_error().within(name);
  const auto forgetting = request.deadline.sooner(kCleanUpPatience);
  auto gone = co_await ssh::forget_job(*session.assume_value(), job, forgetting);
  if (!gone) co_return std::move(gone).assume_error().within(name);
  co_return true;
}

bool restores(const StepRequest& request) {
  return burnin::base_name(request.step.name) == burnin::kSettingsRestore;
}

/// A node that failed before anything was set on it is not waited for: it may be off. Nothing where
/// there is something to put back, or nobody knows: a playbook that sets nothing itself asks what
/// another one has left.
Result<std::optional<StepEnd>> nothing_to_put_back(Doors& doors, const StepRequest& request) {
  if (!restores(request) || request.handle) return std::nullopt;
  TRY(const auto record, record::node_record(doors.store, request.run, request.node.name));
  const auto sets = [](const auto& step) {
    return burnin::base_name(step.name) == burnin::kSettings;
  };
  const auto set = [&](const auto& step) { return sets(step) && step.attempts > 0; };
  const bool none = std::ranges::none_of(record.steps, sets);
  if (none || std::ranges::any_of(record.steps, set)) return std::nullopt;
  return done("nothing was set in this run", record::to_json(burnin::nothing_was_set()));
}

/// A node that knows nothing of what this run has set has lost its record, as one that boots from
/// an image does: what outlives a restart may still be set.
Result<void> doubt(Doors& doors, const StepRequest& request, StepEnd& end) {
  if (!restores(request) || end.outcome != engine::Outcome::done) return ok();
  const auto* facts = end.found.if_contains("facts");
  const auto* told = facts == nullptr ? nullptr : facts->as_object().if_contains("settings.record");
  if (told == nullptr || *told != "none") return ok();
  TRY(const auto record, record::node_record(doors.store, request.run, request.node.name));
  double set = 0;
  for (const auto& [step, findings] : record.findings)
    for (const auto& each : findings.measurements)
      if (burnin::base_name(step) == burnin::kSettings && each.name == "settings.set")
        set = std::max(set, each.value);
  if (set == 0) return ok();
  end.outcome = engine::Outcome::reject;
  end.detail = fmt::format(
      "{:.0f} settings were made, and the node's record of what was before is gone: was it "
      "restarted from an image? Look at ECC and MIG, which outlive that",
      set);
  return ok();
}

}  // namespace

Task<Result<StepEnd>> wait_for_ssh(Doors& doors, const StepRequest& request) {
  const auto last_word = with_last_word(request.deadline);
  const auto for_bmc = std::min<milliseconds>(kBmcPatience, last_word.left() / 4);
  auto session = co_await connected(doors, request, Deadline::at(last_word.when() - for_bmc));
  if (session) co_return done("answers");
  // connected() has waited for as long as there was time: another try would not have any.
  auto ended = ended_by_ssh(std::move(session).assume_error());
  const bool silent = ended && ended.assume_value().outcome == engine::Outcome::retry;
  if (!silent) co_return ended;
  auto& end = ended.assume_value();
  end.outcome = end.at_last;
  const auto said = co_await last_word_of_bmc(doors, request);
  if (!said.empty()) end.detail += "; its BMC: " + said;
  co_return ended;
}

Task<Result<StepEnd>> run_stage(Doors& doors, const StepRequest& request) {
  if (!request.members.empty()) co_return co_await run_together(doors, request);
  CO_TRY(auto nothing, nothing_to_put_back(doors, request));
  if (nothing) co_return std::move(*nothing);
  ssh::JobHandle handle{request.handle.value_or(fresh_folder(request))};
  LogWatch log{doors, request};
  co_await log.before();
  if (!request.handle) {
    CO_TRY(co_await request.started(handle.folder));
  }
  const auto follower = std::make_shared<Follower>(doors, request, handle);
  auto spool = co_await follow_and_read(doors, request, follower);
  // The stage goes on by itself: it is found again, or let go.
  if (!spool) co_return ended_by_ssh(std::move(spool).assume_error());
  co_await read_beside(doors, request, spool.assume_value().output);
  auto ended = read_output(doors, request, spool.assume_value());
  if (!ended) co_return ended;
  CO_TRY(doubt(doors, request, ended.assume_value()));
  co_await log.after(ended.assume_value());
  ended.assume_value().when_written = [follower, written = log.when_written()] {
    written();
    return follower->clean_up();
  };
  co_return ended;
}

Task<Result<void>> end_stage(Doors& doors, const StepRequest& request) {
  auto bounded = request;
  bounded.deadline = request.deadline.sooner(kLetGoPatience);
  auto parts = parts_of(doors, bounded, *request.handle);
  if (request.members.empty()) parts.push_back(std::make_shared<Part>(Part{doors, bounded}));
  const auto all = co_await for_each_of<bool>(std::move(parts), kCleanUpsAtOnce, end_part);
  for (const auto& each : all)
    if (!each) co_return each.assume_error();
  co_return ok();
}

}  // namespace cupel::steps
