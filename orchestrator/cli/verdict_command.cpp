// verdict recompute: the verdicts of a run made again of the record, with the same criteria or
// others.

#include <fmt/format.h>

#include <algorithm>
#include <boost/json.hpp>

#include "base/ownership.h"
#include "base/text.h"
#include "burnin/verdict_text.h"
#include "inventory/load_profile.h"
#include "orchestrator/cli/commands.h"
#include "orchestrator/cli/say.h"
#include "orchestrator/cli/table.h"
#include "orchestrator/controller/planned_run.h"
#include "orchestrator/report/nearest.h"
#include "orchestrator/report/verdict_json.h"
#include "orchestrator/steps/recompute.h"

namespace cupel::cli {
namespace {

namespace fs = std::filesystem;
using steps::Recomputed;
using Problems = std::vector<inventory::Problem>;

struct RecomputeAsked {
  engine::RunId run = 0;
  std::string criteria{};
  bool whole = false;
};

/// The profile in a file, which may extend others beside it.
std::optional<inventory::Profile> profile_in(const std::string& file, Problems& problems) {
  constexpr std::size_t kLargest = 4u << 20;
  const auto text = read_trusted_file(file, kLargest);
  if (!text) {
    problems.push_back({{file, 0, 0}, text.error().what});
    return std::nullopt;
  }
  const inventory::ProfileSource source{fs::path{file}.parent_path()};
  auto profile = inventory::parse_profile(*text, file, source, problems);
  if (!problems.empty()) return std::nullopt;
  return profile;
}

boost::json::object to_json(const Recomputed& each) {
  boost::json::object object{{"node", each.node},
                             {"profile", each.profile},
                             {"recorded", to_string(each.recorded.decision)},
                             {"verdict", to_string(each.now.decision)},
                             {"same", each.is_same()},
                             {"causes", report::to_json(each.now.causes, each.findings)}};
  if (!each.note.empty()) object["note"] = each.note;
  boost::json::array nearest;
  for (const auto& one : report::nearest(each.now.checked, each.compared))
    nearest.push_back(report::to_json(one));
  object["nearest"] = std::move(nearest);
  return object;
}

std::string first_cause(const burnin::Verdict& verdict) {
  return verdict.causes.empty() ? "-" : burnin::to_string(verdict.causes.front());
}

void print(const std::vector<Recomputed>& all, const RecomputeAsked& asked) {
  std::size_t changed = 0;
  std::vector<Row> rows{{"NODE", "RECORDED", "NOW", "FIRST CAUSE"}};
  for (const auto& each : all) {
    if (!each.note.empty()) say("{}: {}\n", each.node, each.note);
    if (each.is_same()) continue;
    ++changed;
    rows.push_back({each.node, std::string{to_string(each.recorded.decision)},
                    std::string{to_string(each.now.decision)}, printable(first_cause(each.now))});
  }
  if (changed > 0) say("{}\n", table(rows));
  const bool others = asked.whole || !asked.criteria.empty();
  say("run {}: {} verdicts, {} {}\n", asked.run, all.size(), changed == 0 ? "all" : "",
      changed == 0 ? "as recorded" : fmt::format("{} would differ", changed));
  if (!others) return;
  std::vector<Row> near{{"NODE", "NEAREST TO ITS LIMIT", "", "MARGIN"}};
  for (const auto& each : all)
    for (const auto& one : report::nearest(each.now.checked, each.compared, 1))
      near.push_back({each.node,
                      printable(one.part.empty() ? one.criterion : one.part + ": " + one.criterion),
                      one.words, one.margin_text()});
  say("\n{}\n", table(near));
}

/// The run's plan, or what is wrong; with other criteria its inventory may have changed meanwhile.
Exit recompute(const Context& context, RecomputeAsked asked) {
  const auto store = store::Store::open(context.state);
  if (!store) return print_error(context, store.error(), Exit::unfinished);
  const auto run = (*store)->run(asked.run);
  if (!run) return print_error(context, run.error(), Exit::invalid);
  const auto planned = controller::plan_again(*run);
  if (!planned) {
    if (const auto* problems = std::get_if<Problems>(&planned.error()))
      return print_error(context, *problems);
    return print_error(context, std::get<Error>(planned.error()), Exit::invalid);
  }
  steps::RecomputeRequest request{.run = asked.run, .whole = asked.whole};
  if (!asked.criteria.empty()) {
    Problems problems;
    request.profile = profile_in(asked.criteria, problems);
    if (!request.profile) return print_error(context, problems);
    const auto& nodes = (*planned)->inventory.nodes;
    const auto used = std::ranges::find(nodes, request.profile->name, &inventory::Node::profile);
    if (used == nodes.end())
      return print_error(
          context,
          Error{Code::kInvalid,
                fmt::format("{}: no node has the profile '{}'; give the file the name "
                            "of the profile that it is to replace",
                            asked.criteria, request.profile->name)},
          Exit::invalid);
  }
  const auto all = steps::recompute(**store, (*planned)->inventory, (*planned)->plan, request);
  if (!all) return print_error(context, all.error(), Exit::unfinished);
  const bool same = std::ranges::all_of(*all, &Recomputed::is_same);
  if (context.json) {
    boost::json::array nodes;
    for (const auto& each : *all) nodes.push_back(to_json(each));
    const boost::json::object object{
        {"run", asked.run}, {"same", same}, {"nodes", std::move(nodes)}};
    std::printf("%s\n", boost::json::serialize(object).c_str());
  } else {
    print(*all, asked);
  }
  return same ? Exit::passed : Exit::failed;
}

}  // namespace

CommandRow verdict_command(Context& context) {
  auto asked = std::make_shared<RecomputeAsked>();
  CommandRow recompute_row{
      "recompute", "judge a run again; exit code 1 where a verdict differs. Changes nothing"};
  recompute_row.footer =
      "Examples: cupel verdict recompute 12\n"
      "          cupel verdict recompute 12 --criteria stricter.yaml";
  recompute_row.options = {
      {"RUN", &asked->run, "its number", kRequired},
      {"--criteria", &asked->criteria,
       "a profile file, in place of the profile of its name [those of the run]"},
      {"--whole", &asked->whole,
       "compare each node with all of the run, also with nodes that were measured after its "
       "verdict"},
      json_flag(context)};
  recompute_row.run = [&context, asked] { return recompute(context, *asked); };
  CommandRow row{"verdict", "verdicts made again of the record"};
  row.subcommands = {recompute_row};
  return row;
}

}  // namespace cupel::cli
