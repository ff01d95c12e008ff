#include "orchestrator/cli/fabric_swap.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <boost/json.hpp>

#include "base/text.h"
#include "orchestrator/cli/say.h"
#include "orchestrator/cli/site_store.h"
#include "orchestrator/requalify/fabric_swap.h"

namespace cupel::cli {
namespace {

using burnin::fabric::SwapAnswer;
using requalify::PairReadings;

constexpr std::size_t kMostRuns = 100;  // that are looked at

struct SwapAsked {
  std::string inventory = default_inventory();
  engine::RunId before = 0, after = 0;  // 0: the newest
};

struct RunReadings {
  engine::RunId run = 0;
  PairReadings readings{};
};

Result<PairReadings> readings_of(const store::Store& store, const store::Run& run,
                                 const inventory::Fabric& plan) {
  std::vector<record::NodeRecord> records;
  for (const auto& node : run.nodes) {
    TRY(auto record, record::node_record(store, run.id, node));
    records.push_back(std::move(record));
  }
  return requalify::pair_readings(records, plan);
}

/// The named run, or the newest older than `before` (0: any) that measured pairs, with or without
/// an exchange.
Result<RunReadings> find_run(const store::Store& store, const inventory::Fabric& plan,
                             engine::RunId named, engine::RunId before, bool with_exchange) {
  if (named != 0) {
    TRY(const auto run, store.run(named));
    TRY(auto readings, readings_of(store, run, plan));
    return RunReadings{named, std::move(readings)};
  }
  TRY(const auto runs, store.runs(kMostRuns));
  for (const auto& run : runs) {
    if (before != 0 && run.id >= before) continue;
    TRY(auto readings, readings_of(store, run, plan));
    if (!readings.measured.empty() && readings.exchanged.empty() != with_exchange)
      return RunReadings{run.id, std::move(readings)};
  }
  return Error{Code::kNotFound,
               with_exchange
                   ? "no run measured pairs after an exchange: cupel run fabric --set "
                     "exchanged=leaf1-r3/7,leaf1-r3/8"
                   : "no run before it measured pairs without an exchange: name it with --before"};
}

boost::json::array ends_json(const burnin::fabric::SlowLinks& links) {
  boost::json::array all;
  for (const auto& end : links)
    all.push_back({{"device", end.device}, {"hca", end.hca}, {"port", end.port}});
  return all;
}

boost::json::array parts_json(const std::vector<burnin::fabric::LinkPart>& parts) {
  boost::json::array all;
  for (const auto& part : parts) all.emplace_back(valid_utf8(to_string(part)));
  return all;
}

std::string_view word_of(SwapAnswer::Outcome outcome) {
  using enum SwapAnswer::Outcome;
  return outcome == named ? "named" : outcome == gone ? "gone" : "both";
}

void print(const Context& context, const RunReadings& before, const RunReadings& after,
           const std::vector<SwapAnswer>& answers) {
  if (context.json) {
    boost::json::array all;
    for (const auto& answer : answers)
      all.push_back({{"was", ends_json(answer.was)},
                     {"outcome", word_of(answer.outcome)},
                     {"parts", parts_json(answer.parts)},
                     {"cleared", parts_json(answer.cleared)}});
    return say("{}\n",
               boost::json::serialize(boost::json::object{
                   {"before", before.run}, {"after", after.run}, {"answers", std::move(all)}}));
  }
  say("{}run {}, and run {} with the plugs of {} exchanged:\n", rehearsal_line(context.state),
      before.run, after.run, printable(after.readings.exchanged));
  for (const auto& answer : answers) say("  {}\n", printable(to_string(answer)));
}

Exit refuse_swap(const Context& context, const Error& error) {
  return complain(context, error, error.code == Code::kStorage ? Exit::unfinished : Exit::invalid);
}

Exit after_swap(const Context& context, const SwapAsked& asked) {
  Exit exit = Exit::passed;
  const auto inventory = inventory_or_complain(context, asked.inventory, exit);
  if (!inventory) return exit;
  if (!inventory->fabric)
    return complain(context,
                    Error{Code::kInvalid, fmt::format("{} has no cable plan: add fabric: "
                                                      "(docs/fabric.md)",
                                                      asked.inventory)},
                    Exit::invalid);
  const auto& plan = inventory->fabric->fabric;
  const auto store = open_store_for(context, *inventory);
  if (!store) return complain_of_store(context, store.error());
  const auto after = find_run(**store, plan, asked.after, 0, true);
  if (!after) return refuse_swap(context, after.error());
  const auto before = find_run(**store, plan, asked.before, after->run, false);
  if (!before) return refuse_swap(context, before.error());
  const auto answers = requalify::read_swapped_cables(before->readings, after->readings, plan);
  if (!answers) return refuse_swap(context, answers.error());
  print(context, *before, *after, *answers);
  return Exit::passed;
}

}  // namespace

void add_after_swap_command(CLI::App& fabric, Context& context, Exit& exit) {
  const auto asked = std::make_shared<SwapAsked>();
  auto* added = fabric.add_subcommand("after-swap",
                                      "two plugs were exchanged: which part went with the fault");
  added->footer(
      "Exchange the plugs of two ports, then measure the nodes behind them and ask:\n"
      "          cupel run fabric --nodes a01-n[1-8] --set exchanged=leaf1-r3/7,leaf1-r3/8\n"
      "          cupel fabric after-swap");
  added->add_option("-i,--inventory", asked->inventory, "[$CUPEL_INVENTORY, ./inventory.yaml]");
  added->add_option("--before", asked->before,
                    "run before the exchange [the newest older one that measured pairs]");
  added->add_option("--after", asked->after,
                    "run after it [the newest that was measured with an exchange]");
  add_json_flag(*added, context);
  added->callback([&context, &exit, asked] { exit = after_swap(context, *asked); });
}

}  // namespace cupel::cli
