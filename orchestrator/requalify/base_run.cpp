#include "orchestrator/requalify/base_run.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "burnin/stage.h"

namespace cupel::requalify {
namespace {

constexpr std::size_t kMostRuns = 100;  // of one node that are looked at
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

bool has_failed_part(const record::NodeRecord& record) {
  return record.verdict && std::ranges::any_of(record.verdict->causes, [](const auto& cause) {
           return cause.decision == burnin::Decision::fail && !cause.part.empty();
         });
}

bool tells_parts(const record::NodeRecord& record) {
  if (!record.bmc_parts.empty()) return true;
  return std::ranges::any_of(record.findings,
                             [](const auto& each) { return !each.second.parts.empty(); });
}

Result<NodeRun> read_run(const store::Store& store, engine::RunId id, const std::string& node) {
  NodeRun found;
  TRY(found.run, store.run(id));
  TRY(found.record, record::node_record(store, id, node));
  return found;
}

/// Newest first, until one is wanted.
Result<std::optional<NodeRun>> newest(const store::Store& store, const std::string& node,
                                      bool (*wanted)(const record::NodeRecord&),
                                      engine::RunId behind = 0) {
  TRY(const auto runs, store.runs_of(node, kMostRuns));
  for (const auto id : runs) {
    if (id <= behind) break;
    TRY(auto found, read_run(store, id, node));
    if (wanted(found.record)) return std::optional{std::move(found)};
  }
  return std::nullopt;
}

}  // namespace

Result<NodeRun> passed_run(const store::Store& store, const std::string& node,
                           engine::RunId named) {
  if (named != 0) {
    TRY(auto found, read_run(store, named, node));
    if (!has_passed(found.record))
      return Error{Code::kInvalid,
                   fmt::format("{0} did not pass run {1}: cupel show {0} --run {1}", node, named)};
    return found;
  }
  TRY(const auto runs, store.runs_of(node, kMostRuns));
  std::optional<NodeRun> best;
  Names tested;
  for (const auto id : runs) {
    TRY(auto found, read_run(store, id, node));
    const auto loads = loads_of(found.record);
    if (!has_passed(found.record) || loads.empty()) continue;
    const bool more = loads.size() > tested.size() && std::ranges::includes(loads, tested);
    if (best && !more) continue;
    tested = loads;
    best = std::move(found);
    if (best->run.playbook == kRequalify) break;  // it stands for all that came before it
  }
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

}  // namespace cupel::requalify
