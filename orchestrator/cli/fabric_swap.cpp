// `cupel fabric after-swap`: which part of a slow link was at fault, by the runs before and after
// an exchange of plugs.
#include "orchestrator/requalify/fabric_swap.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <boost/json.hpp>

#include "base/text.h"
#include "burnin/fabric/swap_choice.h"
#include "inventory/model.h"
#include "inventory/node_range.h"
#include "orchestrator/cli/commands.h"
#include "orchestrator/cli/say.h"
#include "orchestrator/cli/site_store.h"

namespace cupel::cli {
namespace {

using burnin::fabric::SwapAnswer;
using requalify::PairReadings;
using requalify::PairRun;
using requalify::SwapCase;
using requalify::SwapInquiry;

constexpr std::size_t kMostRuns = 100;  // that are looked at

struct SwapAsked {
  std::string inventory = default_inventory();
  engine::RunId before = 0, after = 0;  // 0: the newest
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

/// With --after: that exchange alone, and runs before it. With --before: that run is the one before
/// all exchanges.
bool is_asked_for(const SwapAsked& asked, engine::RunId run, bool with_exchange) {
  if (with_exchange) return asked.after == 0 || run == asked.after;
  if (asked.before != 0) return run == asked.before;
  return asked.after == 0 || run < asked.after;
}

bool shares_one(const PairReadings& one, const PairReadings& other) {
  return std::ranges::any_of(one.slow, [&](const auto& links) {
    return std::ranges::find(other.slow, links) != other.slow.end();
  });
}

/// The newest runs that measured pairs, back to where none of the newest one's links was slow.
Result<std::vector<PairRun>> pair_runs(const store::Store& store, const inventory::Fabric& plan,
                                       const SwapAsked& asked) {
  TRY(const auto runs, store.runs(kMostRuns));
  std::vector<PairRun> found;
  std::optional<std::size_t> newest;  // of those without an exchange
  for (const auto& run : runs) {
    TRY(auto readings, readings_of(store, run, plan));
    if (readings.measured.empty()) continue;
    const bool with_exchange = !readings.exchanged.empty();
    if (!is_asked_for(asked, run.id, with_exchange)) continue;
    const bool ends = !with_exchange && newest && !shares_one(found[*newest].readings, readings);
    if (!with_exchange && !newest) newest = found.size();
    found.push_back({run.id, std::move(readings)});
    if (ends) break;
  }
  return found;
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
  switch (outcome) {
    using enum SwapAnswer::Outcome;
    case named:
      return "named";
    case gone:
      return "gone";
    case both:
      return "both";
    case open:
      return "open";
    case contradicted:
      return "contradicted";
  }
  return "open";
}

/// What to type once the plugs were exchanged.
std::string command_of(const SwapCase& each) {
  const std::vector<std::string> nodes{each.measure.begin(), each.measure.end()};
  return fmt::format("cupel run fabric --nodes '{}'{} --set exchanged={}", inventory::fold(nodes),
                     each.uplinks ? " --set routing=by-destination" : "", to_string(*each.next));
}

/// Empty: one part is left, or an exchange says nothing more.
std::string next_of(const SwapCase& each) {
  using enum SwapAnswer::Outcome;
  const auto& answer = each.answer;
  if (each.next)
    return fmt::format("next: {}exchange the plugs of {}, then: {}",
                       each.by.empty() ? "" : "put the plugs back, ", to_string(*each.next),
                       command_of(each));
  if (answer.parts.size() > 1 && (answer.outcome == open || answer.outcome == named))
    return "no exchange of two plugs tells these apart: replace them in turn, the transceivers "
           "first";
  return answer.outcome == named ? "next: put the plugs back and replace it" : "";
}

boost::json::object case_json(const SwapCase& each) {
  boost::json::object made{{"was", ends_json(each.answer.was)},
                           {"outcome", word_of(each.answer.outcome)},
                           {"parts", parts_json(each.answer.parts)},
                           {"cleared", parts_json(each.answer.cleared)},
                           {"runs", boost::json::value_from(each.by)}};
  if (each.next) {
    made["exchange"] = valid_utf8(to_string(*each.next));
    made["command"] = valid_utf8(command_of(each));
  }
  return made;
}

void print(const Context& context, const SwapInquiry& found) {
  if (context.json) {
    boost::json::array all;
    for (const auto& each : found.cases) all.push_back(case_json(each));
    return say("{}\n", boost::json::serialize(
                           boost::json::object{{"before", found.before},
                                               {"after", boost::json::value_from(found.after)},
                                               {"answers", std::move(all)}}));
  }
  say("{}run {}{}: {}\n", rehearsal_line(context.state), found.before,
      found.after.empty()
          ? std::string{}
          : fmt::format(", and with plugs exchanged {} {}",
                        found.after.size() == 1 ? "run" : "runs", fmt::join(found.after, ", ")),
      found.cases.size() == 1 ? "1 slow link" : fmt::format("{} slow links", found.cases.size()));
  for (const auto& each : found.cases) {
    say("  {}\n", printable(to_string(each.answer)));
    if (const auto next = next_of(each); !next.empty()) say("    {}\n", printable(next));
  }
}

Exit refuse_swap(const Context& context, const Error& error) {
  return print_error(context, error,
                     error.code == Code::kStorage ? Exit::unfinished : Exit::invalid);
}

Exit after_swap(const Context& context, const SwapAsked& asked) {
  TRY(const auto inventory, inventory_or_exit(context, asked.inventory));
  if (!inventory.fabric)
    return print_error(context,
                       Error{Code::kInvalid, fmt::format("{} has no cable plan: add fabric: "
                                                         "(docs/do/fabric.md)",
                                                         asked.inventory)},
                       Exit::invalid);
  const auto& plan = inventory.fabric->fabric;
  const auto store = open_store_for(context, inventory);
  if (!store) return print_error_of_store(context, store.error());
  const auto runs = pair_runs(**store, plan, asked);
  if (!runs) return refuse_swap(context, runs.error());
  const auto found = requalify::inquire(*runs, plan);
  if (!found) return refuse_swap(context, found.error());
  print(context, *found);
  return Exit::passed;
}

}  // namespace

CommandRow after_swap_command(Context& context) {
  const auto asked = std::make_shared<SwapAsked>();
  CommandRow row{"after-swap",
                 "which two plugs to exchange at a slow link, and which part went with the fault"};
  row.footer =
      "Measure, ask which plugs to exchange, exchange them, measure with them and ask again:\n"
      "          cupel run fabric --nodes a01-n[1-8]\n"
      "          cupel fabric after-swap\n"
      "          cupel run fabric --nodes a01-n[1-8] --set exchanged=leaf1-r3/7,leaf1-r3/8\n"
      "          cupel fabric after-swap";
  row.options = {{"-i,--inventory", &asked->inventory,
                  "[$CUPEL_INVENTORY, ./inventory.yaml, /etc/cupel/inventory.yaml]"},
                 {"--before", &asked->before,
                  "run before the exchanges [the newest that measured pairs without one]"},
                 {"--after", &asked->after,
                  "the one run with an exchange to compare it with [all since then]"},
                 json_flag(context)};
  row.run = [&context, asked] { return after_swap(context, *asked); };
  return row;
}

}  // namespace cupel::cli
