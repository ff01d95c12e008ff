#include "orchestrator/steps/stage_output.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/text.h"
#include "burnin/companions.h"
#include "burnin/stage.h"
#include "burnin/stage_series.h"
#include "inventory/model.h"
#include "inventory/profile.h"
#include "orchestrator/engine/run_state.h"
#include "orchestrator/record/codec.h"
#include "orchestrator/record/series_codec.h"
#include "orchestrator/ssh/missing_program.h"
#include "orchestrator/steps/part_places.h"
#include "orchestrator/steps/uniformity.h"
#include "playbooks/plan.h"

namespace cupel::steps {

using engine::StepEnd;
using engine::StepRequest;

namespace {

/// All that the tool said, as it is kept.
std::string evidence_of(const StepRequest& request, const burnin::Output& output) {
  return fmt::format(
      "# stage {} on {}, exit status {}\n# script\n{}\n# standard output\n{}\n"
      "# standard error\n{}\n{}{}",
      request.step.name, request.node.name, output.exit_status, request.step.job->script,
      output.text, output.errors, output.beside.empty() ? "" : "# readings of the BMC meanwhile\n",
      output.beside);
}

/// The epoch of when the step began that runs on the node: no reading of it is older, whichever
/// controller began it.
std::optional<double> begun(const StepRequest& request) {
  if (request.run_state == nullptr) return std::nullopt;
  const auto node = request.run_state->nodes.find(request.node.name);
  if (node == request.run_state->nodes.end()) return std::nullopt;
  std::optional<double> first;
  for (const auto& step : node->second.steps) {
    if (step.phase != engine::StepState::Phase::running) continue;
    const double began = std::chrono::duration<double>{step.began.time_since_epoch()}.count();
    first = std::min(first.value_or(began), began);
  }
  return first;
}

/// The node's clock is held against ours while we still know when it was read.
boost::json::object facts_of(const burnin::Findings& findings, const StepRequest& request) {
  boost::json::object facts;
  for (const auto& [name, value] : findings.facts) facts[name] = value;
  const auto reported = findings.facts.find("node.epoch");
  const auto epoch =
      reported == findings.facts.end() ? std::nullopt : number<double>(reported->second);
  const std::chrono::duration<double> now = std::chrono::system_clock::now().time_since_epoch();
  for (const auto& [name, value] : version_facts(findings.parts)) facts[name] = value;
  for (const auto& [name, value] : place_facts(findings.parts, false)) facts[name] = value;
  for (const auto& [name, value] : setting_facts(findings.measurements)) facts[name] = value;
  if (!epoch) return facts;
  if (const auto ahead = clock_ahead(*epoch, begun(request), now.count()))
    facts[inventory::kNodeClockFact] = fmt::format("{:.0f}", *ahead);
  return facts;
}

/// "cupel-burn is not installed on the node" is no fault of the node where we should have brought
/// it.
std::optional<std::string> missing_here(const StepEnvironment& environment, std::string_view why) {
  constexpr std::string_view kNotInstalled = " is not installed on the node";
  if (!environment.programs || !why.starts_with("cupel-") || !why.ends_with(kNotInstalled))
    return std::nullopt;
  const auto name = why.substr(0, why.size() - kNotInstalled.size());
  if (ssh::file_of(*environment.programs, name)) return std::nullopt;
  return ssh::why_missing(*environment.programs, name);
}

/// By the name of the stage; empty where nothing worked beside it.
boost::json::object of_companions(const inventory::Profile& profile, burnin::Output& output) {
  boost::json::object beside;
  for (const auto& each : burnin::take_companions(profile, output))
    beside[each.name] = record::to_json(each.findings);
  return beside;
}

/// What the BMC measured meanwhile, which is then no longer on the board.
void take_sensors(BmcBoard& board, const std::string& node, record::KeptSeries& kept) {
  const auto found = board.sensors.find(node);
  if (found == board.sensors.end()) return;
  const auto& recorder = found->second.recorder();
  kept.series.merge(recorder.all());
  std::ranges::copy(recorder.faults(), std::back_inserter(kept.faults));
  std::ranges::stable_sort(kept.faults, {}, &burnin::SeriesFault::seconds);
  kept.left_out += recorder.left_out();
  board.sensors.erase(found);
}

/// The document's text. One stage takes half of what those before it have left at most: together
/// they stay under the limit of one, and the last still has room. A restarted controller begins to
/// count anew.
std::string bounded_text(BmcBoard& board, const StepRequest& request,
                         const record::KeptSeries& kept) {
  auto& before = board.series_bytes[request.node.name];
  const auto left = record::kMostSeriesBytes - std::min(before, record::kMostSeriesBytes);
  auto text = record::to_text(kept, left / 2);
  before += text.size();
  return text;
}

/// What was sampled over time, as evidence of its own, whatever came of the stage.
Result<void> keep_series(StepEnvironment& environment, const StepRequest& request,
                         const burnin::Output& output, StepEnd& end) {
  burnin::SeriesRecorder recorder;
  const auto& profiles = environment.inventory.profiles;
  const auto profile = profiles.find(request.node.profile);
  if (profile != profiles.end())
    burnin::add_series(*burnin::stage(request.step.name), profile->second, output, recorder);
  record::KeptSeries kept{recorder.faults(), recorder.all(), recorder.left_out()};
  take_sensors(*environment.board, request.node.name, kept);
  if (kept.series.empty()) return ok();
  TRY(const auto hash,
      environment.store.keep_evidence(bounded_text(*environment.board, request, kept)));
  end.found["series"] = {{"evidence", hash}};
  return ok();
}

}  // namespace

std::optional<double> clock_ahead(double epoch, std::optional<double> began, double now) {
  constexpr double kDay = 86400;  // no reading waits for so long
  if (epoch > now) return epoch - now;
  if (began) return std::min(epoch - *began, 0.0);
  return now - epoch > kDay ? std::optional{epoch - now} : std::nullopt;
}

Result<StepEnd> keep_output(StepEnvironment& environment, const StepRequest& request,
                            const Spool& spool) {
  constexpr int kEndedByLimit = 124;  // coreutils timeout(1)
  TRY(auto hash, environment.store.keep_evidence(evidence_of(request, spool.output)));
  StepEnd end;
  end.outcome = engine::Outcome::reject;
  end.found["evidence"] = hash;
  TRY(keep_series(environment, request, spool.output, end));
  if (spool.stopped) {
    end.begin_anew = true;
    end.detail = "it was ended half done";
    return end;
  }
  if (spool.lost) {
    end.detail = "the stage is gone from the node: the node restarted, or the stage was ended";
    return end;
  }
  if (spool.output.exit_status == kEndedByLimit) {
    const auto limit = request.step.job->limit.count();
    // Its length depends on the BMC's answers and on ours: its limit says nothing of the machine.
    if (burnin::stage(request.step.name)->beside.bmc_sensors) {
      end.detail = fmt::format(
          "it was ended after its limit of {} s, because readings of the BMC came too slowly: "
          "check the load of the admin node and the BMC, then retry the node",
          limit);
      return end;
    }
    end.found["hung"] = true;
    end.detail = fmt::format("hung: it was ended after its limit of {} s", limit);
    return end;
  }
  end.outcome = engine::Outcome::done;
  return end;
}

Result<StepEnd> read_output(StepEnvironment& environment, const StepRequest& request,
                            const Spool& spool) {
  TRY(auto end, keep_output(environment, request, spool));
  if (end.outcome != engine::Outcome::done) return end;
  const auto& profile = environment.inventory.profile_of(request.node);
  auto output = spool.output;
  auto beside = of_companions(profile, output);
  auto findings = burnin::stage(request.step.name)->parse(profile, output);
  if (!findings) {
    if (!beside.empty()) end.found["beside"] = std::move(beside);
    end.outcome = engine::Outcome::reject;
    end.detail = findings.error().what;
    if (const auto ours = missing_here(environment, end.detail)) end.detail = *ours;
    end.found["error"] = to_string(findings.error().code);
    // What was read before a controller died is gone with it: the phases must be gone through anew.
    end.begin_anew = request.handle && burnin::stage(request.step.name)->beside.bmc_sensors;
    return end;
  }
  auto found = record::to_json(*findings);
  for (const auto* key : {"evidence", "series"})
    if (const auto* kept = end.found.if_contains(key)) found[key] = *kept;
  if (!beside.empty()) found["beside"] = std::move(beside);
  if (auto facts = facts_of(*findings, request); !facts.empty()) found["facts"] = std::move(facts);
  return done(fmt::format("{} measurements", findings->measurements.size()), std::move(found));
}

}  // namespace cupel::steps
