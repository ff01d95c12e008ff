#include "orchestrator/requalify/base_run.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "burnin/criteria/compared_causes.h"
#include "burnin/stage.h"

namespace cupel::requalify {
namespace {

constexpr std::size_t kPage = 100;          // runs of one node that are listed at a time
constexpr std::size_t kMostRuns = 2000;     // of one node that are looked at
constexpr std::size_t kMostLoads = 100;     // of those, that loaded it
constexpr std::size_t kMostFailures = 100;  // of those, that it failed
constexpr std::string_view kRequalify = "requalify";

using Names = std::set<std::string, std::less<>>;

Names loads_of(const record::NodeRecord& record) {
  Names names;
  for (const auto& step : record.steps) {
    const auto* stage = burnin::stage(step.name);
    if (stage != nullptr && step.outcome == "done" && burnin::is_load(*stage))
      names.emplace(stage->name);
  }
  return names;
}

bool has_passed(const record::NodeRecord& record) {
  return record.verdict && record.verdict->decision == burnin::Decision::pass;
}

/// What failed, and what stood out among its like and is to be measured again.
bool is_failure(const burnin::Cause& cause) {
  return cause.decision == burnin::Decision::fail || burnin::is_to_be_repeated(cause);
}

bool has_failed_part(const record::NodeRecord& record) {
  return record.verdict && std::ranges::any_of(record.verdict->causes, [](const auto& cause) {
           return is_failure(cause) && !cause.part.empty();
         });
}

bool tells_parts(const record::NodeRecord& record) {
  if (!record.bmc_parts.empty()) return true;
  return std::ranges::any_of(record.findings,
                             [](const auto& each) { return !each.second.parts.empty(); });
}

bool has_failed(const record::NodeRecord& record) {
  return record.verdict && std::ranges::any_of(record.verdict->causes, is_failure);
}

/// Newest first, down to `behind`, until `visit` returns false. Audits between two burn-ins may be
/// many: they are listed by pages.
template <class Visit>
Result<void> each_run(const store::Store& store, const std::string& node, engine::RunId behind,
                      Visit visit) {
  engine::RunId before = 0;
  for (std::size_t looked = 0; looked < kMostRuns; looked += kPage) {
    TRY(const auto runs, store.runs_of(node, kPage, before));
    for (const auto id : runs) {
      if (id <= behind) return ok();
      TRY(auto found, read_run(store, id, node));
      if (!visit(std::move(found))) return ok();
    }
    if (runs.size() < kPage) return ok();
    before = runs.back();
  }
  return ok();
}

/// Newest first, until one is requested.
Result<std::optional<NodeRun>> newest(const store::Store& store, const std::string& node,
                                      bool (*requested)(const record::NodeRecord&),
                                      engine::RunId behind = 0) {
  std::optional<NodeRun> found;
  TRY(each_run(store, node, behind, [&](NodeRun run) {
    if (!requested(run.record)) return true;
    found = std::move(run);
    return false;
  }));
  return found;
}

/// A log that was read behind a stage tells of that stage: "gemm" of "sel@gemm". Empty: of none.
std::string_view loading_stage(std::string_view stage) {
  if (burnin::is_log(stage)) {
    const auto at = stage.find('@');
    stage = at == stage.npos ? std::string_view{} : stage.substr(at + 1);
  }
  const auto base = burnin::base_name(stage);
  return burnin::stage(base) == nullptr ? std::string_view{} : base;
}

/// By base name: those in which a cause was seen, or the one that did not end.
Names stages_of(const burnin::Cause& cause) {
  constexpr std::string_view kStage = "stage ";
  auto seen = cause.stages;
  if (seen.empty() && cause.criterion.starts_with(kStage))
    seen.push_back(cause.criterion.substr(kStage.size()));
  Names stages;
  for (const auto& each : seen)
    if (const auto base = loading_stage(each); !base.empty()) stages.emplace(base);
  return stages;
}

}  // namespace

Result<NodeRun> read_run(const store::Store& store, engine::RunId run, const std::string& node) {
  NodeRun found;
  TRY(found.run, store.run(run));
  TRY(found.record, record::node_record(store, run, node));
  return found;
}

Result<NodeRun> passed_run(const store::Store& store, const std::string& node,
                           engine::RunId named) {
  if (named != 0) {
    TRY(auto found, read_run(store, named, node));
    if (!has_passed(found.record))
      return Error{Code::kInvalid,
                   fmt::format("{0} did not pass run {1}: cupel show {0} --run {1}", node, named)};
    return found;
  }
  std::optional<NodeRun> best;
  Names tested;
  std::size_t loaded = 0;
  TRY(each_run(store, node, 0, [&](NodeRun found) {
    auto loads = loads_of(found.record);
    if (loads.empty()) return true;
    const bool more = loads.size() > tested.size() && std::ranges::includes(loads, tested);
    if (has_passed(found.record) && (!best || more)) {
      tested = std::move(loads);
      best = std::move(found);
      if (best->run.playbook == kRequalify) return false;  // it stands for all before it
    }
    return ++loaded < kMostLoads;
  }));
  if (best) return *std::move(best);
  return Error{Code::kNotFound,
               fmt::format("{0} has passed no run with a stage that loads it: there is nothing to "
                           "renew. Test it as a new machine: cupel run new-rack --nodes {0}",
                           node)};
}

Result<NodeRun> failed_run(const store::Store& store, const std::string& node) {
  TRY(auto found, newest(store, node, has_failed_part));
  if (found) return *std::move(found);
  return Error{
      Code::kNotFound,
      fmt::format("{0} has failed no run by one of its parts: there is nothing that a swap "
                  "could tell apart; cupel show {0}",
                  node)};
}

Result<std::optional<NodeRun>> seen_since(const store::Store& store, const std::string& node,
                                          engine::RunId base) {
  return newest(store, node, tells_parts, base);
}

Result<std::vector<NodeRun>> failed_since(const store::Store& store, const std::string& node,
                                          engine::RunId base) {
  std::vector<NodeRun> failed;
  TRY(each_run(store, node, base, [&](NodeRun found) {
    if (has_failed(found.record)) failed.push_back(std::move(found));
    return failed.size() < kMostFailures;
  }));
  return failed;
}

Result<NodeRun> seen_in(const store::Store& store, const std::string& node, engine::RunId look) {
  TRY(auto seen, read_run(store, look, node));
  if (!tells_parts(seen.record))
    return Error{Code::kInvalid,
                 fmt::format("run {0} was to read what is in {1} now, and neither {1} nor its BMC "
                             "reported a part: cupel show {1} --run {0}",
                             look, node)};
  return seen;
}

std::map<std::string, std::string, std::less<>> failed_stages(std::span<const NodeRun> failed) {
  std::map<std::string, std::string, std::less<>> stages;
  for (const auto& each : failed) {
    if (!each.record.verdict) continue;
    for (const auto& cause : each.record.verdict->causes)
      for (const auto& stage : stages_of(cause))
        if (is_failure(cause))
          stages.emplace(
              stage, fmt::format("{} {} there in run {}",
                                 cause.part.empty() ? each.record.node : cause.part,
                                 cause.decision == burnin::Decision::fail ? "failed" : "stood out",
                                 each.run.id));
  }
  return stages;
}

std::vector<std::string> other_failures(const NodeRun& failed) {
  std::vector<std::string> texts;
  if (!failed.record.verdict) return texts;
  for (const auto& cause : failed.record.verdict->causes)
    if (cause.decision == burnin::Decision::fail && stages_of(cause).empty())
      texts.push_back(cause.part.empty() ? cause.criterion : cause.part + ": " + cause.criterion);
  return texts;
}

}  // namespace cupel::requalify
