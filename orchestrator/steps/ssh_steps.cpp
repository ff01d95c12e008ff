// What is asked of the node itself: does it answer, and the burn-in stages that run on it.
#include <fmt/format.h>

#include "base/all_or_none.h"
#include "base/digest.h"
#include "base/for_each_of.h"
#include "base/readable_json.h"
#include "base/text.h"
#include "burnin/board/feeds.h"
#include "burnin/node/thermal.h"
#include "burnin/settings/settings.h"
#include "orchestrator/record/codec.h"
#include "orchestrator/ssh/missing_program.h"
#include "orchestrator/steps/feed_watch.h"
#include "orchestrator/steps/follower.h"
#include "orchestrator/steps/inlets.h"
#include "orchestrator/steps/node_tools.h"

namespace cupel::steps {
namespace {

using engine::StepEnd;
using engine::StepRequest;
using std::chrono::milliseconds;
using std::chrono::seconds;

constexpr seconds kBmcPatience{15};  // what it says of a node that did not come
constexpr seconds kCleanUpPatience{10};
constexpr seconds kStopPatience{30};  // TERM, and KILL for a supervisor that does not hear it
/// A node that is not reached in this time is not waited for: what runs there has its own limit.
constexpr seconds kLetGoPatience{60};
constexpr std::size_t kCleanUpsAtOnce = 32;

/// A name that no other run, store or controller has ever used: an old job's output must never be
/// taken for a new one's. That nobody on the node gets at it is the folder's own affair, not that
/// of its name.
std::string fresh_folder(const StepRequest& request) {
  return fmt::format("{}/cupel-{}-run{}-{}", ssh::kJobFolder, random_hex(8), request.run,
                     request.step.name);
}

ssh::JobHandle handle_of(const Doors& doors, const inventory::Node& node, std::string folder) {
  ssh::JobHandle handle{std::move(folder), node.ssh.sudo};
  if (doors.programs) handle.programs = doors.programs->on_node();
  return handle;
}

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

/// "cupel-burn is not installed on the node" is no fault of the node where we should have brought
/// it.
std::optional<std::string> missing_here(const Doors& doors, std::string_view why) {
  constexpr std::string_view kSaid = " is not installed on the node";
  if (!doors.programs || !why.starts_with("cupel-") || !why.ends_with(kSaid)) return std::nullopt;
  const auto name = why.substr(0, why.size() - kSaid.size());
  if (ssh::file_of(*doors.programs, name)) return std::nullopt;
  return ssh::why_missing(*doors.programs, name);
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
    end.detail = findings.error().what;
    if (const auto ours = missing_here(doors, end.detail)) end.detail = *ours;
    if (!spool.why_by_shell.empty()) end.detail += "; " + spool.why_by_shell;
    end.found["error"] = to_string(findings.error().code);
    // What was read before a controller died is gone with it: the phases must be gone through anew.
    end.begin_anew = request.handle && burnin::stage(request.step.name)->reads_sensors;
    return end;
  }
  auto found = record::to_json(*findings);
  found["evidence"] = hash;
  if (auto facts = facts_of(*findings); !facts.empty()) found["facts"] = std::move(facts);
  return done(fmt::format("{} measurements", findings->measurements.size()), std::move(found));
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
    auto job = handle_of(doors, *member, handle + "-" + member->name);
    StepRequest mine{request.run, *member,          {},           request.step, request.attempt,
                     job.folder,  request.deadline, request.stop, {},           waiting};
    auto part = std::make_shared<Part>(Part{doors, std::move(mine)});
    part->follower = std::make_shared<Follower>(doors, part->request, std::move(job));
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
  if (!spool) co_return std::move(spool).error().within(name);
  co_await read_beside(part->doors, part->request, spool->output);
  CO_TRY(part->end, read_output(part->doors, part->request, *spool));
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

/// The stage, and where it asks for them the BMC's sensors read until it has ended, and one feed
/// taken away after the other.
Task<Result<Spool>> follow_and_read(Doors& doors, const StepRequest& request,
                                    const std::shared_ptr<Follower>& follower) {
  if (!burnin::stage(request.step.name)->reads_sensors) co_return co_await follower->follow();
  Beside beside{follower, SensorWatch{doors, request}};
  std::vector<Work> works{Work::follow, Work::read};
  // Of one that was found again nobody has read the phases before: it is done anew.
  if (!request.handle && burnin::takes_feeds(request.step.name, request.step.with)) {
    beside.feeds.emplace(doors, request, beside.sensors);
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
  if (*beside.spool) (*beside.spool)->output.beside = beside.sensors.told();
  co_return std::move(*beside.spool);
}

/// What was found on each node lies in one document, which all of their events name: a rack's
/// findings in each of its events would be the rack's square.
Result<void> keep_shares(Doors& doors, const Parts& parts, StepEnd& end) {
  boost::json::object shares;
  for (const auto& part : parts)
    if (part->end) shares[part->request.node.name] = part->end->found;
  make_readable(shares);
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
  auto ended = ended_by(std::move(all).error());
  if (ended) {
    auto& end = *ended;
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
  const auto job = handle_of(part->doors, request.node, *request.handle);
  auto session = co_await connected(part->doors, request, request.deadline);
  if (!session) co_return std::move(session).error().within(name);
  const auto stopping = request.deadline.sooner(kStopPatience);
  auto stopped = co_await ssh::stop_job(**session, job, stopping);
  if (!stopped) co_return std::move(stopped).error().within(name);
  const auto forgetting = request.deadline.sooner(kCleanUpPatience);
  auto gone = co_await ssh::forget_job(**session, job, forgetting);
  if (!gone) co_return std::move(gone).error().within(name);
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

/// By what its BMC says of a machine that does not answer; NODE stands for its name.
std::string action_for_silent(std::string_view said) {
  if (said.starts_with(to_string(bmc::PowerState::off)))
    return "find out why the machine is off: its power supplies, its BMC's log; "
           "then: cupel bmc NODE power on";
  if (said.empty())
    return "look at the machine: its power, its screen, its network cables and its BMC's";
  return "look at the machine: its screen, its network cables";
}

}  // namespace

Task<Result<StepEnd>> wait_for_ssh(Doors& doors, const StepRequest& request) {
  const auto last_word = with_last_word(request.deadline);
  const auto for_bmc = std::min<milliseconds>(kBmcPatience, last_word.left() / 4);
  auto session = co_await connected(doors, request, Deadline::at(last_word.when() - for_bmc));
  if (session) co_return co_await look_at_tools(request, **session);
  // connected() has waited for as long as there was time: another try would not have any.
  auto ended = ended_by_ssh(std::move(session).error());
  const bool silent = ended && ended->outcome == engine::Outcome::retry;
  if (!silent) co_return ended;
  auto& end = *ended;
  end.outcome = end.at_last;
  const auto said = co_await last_word_of_bmc(doors, request);
  if (!said.empty()) end.detail += "; its BMC: " + said;
  ask_for(end, {{action_for_silent(said)}});
  co_return ended;
}

Task<Result<StepEnd>> run_stage(Doors& doors, const StepRequest& request) {
  if (!request.members.empty()) co_return co_await run_together(doors, request);
  CO_TRY(auto nothing, nothing_to_put_back(doors, request));
  if (nothing) co_return std::move(*nothing);
  const auto handle =
      handle_of(doors, request.node, request.handle.value_or(fresh_folder(request)));
  LogWatch log{doors, request};
  co_await log.before();
  if (!request.handle) {
    CO_TRY(co_await request.started(handle.folder));
  }
  const auto follower = std::make_shared<Follower>(doors, request, handle);
  auto spool = co_await follow_and_read(doors, request, follower);
  // The stage goes on by itself: it is found again, or let go.
  if (!spool) co_return ended_by_ssh(std::move(spool).error());
  co_await read_beside(doors, request, spool->output);
  auto ended = read_output(doors, request, *spool);
  if (!ended) co_return ended;
  CO_TRY(doubt(doors, request, *ended));
  co_await log.after(*ended);
  ended->when_written = [follower, written = log.when_written()] {
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
    if (!each) co_return each.error();
  co_return ok();
}

}  // namespace cupel::steps
