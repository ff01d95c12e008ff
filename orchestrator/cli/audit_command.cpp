// audit: what runs have seen of the machines, against a list of assets, against what is due, and
// against what another run saw. Reads the store; asks no machine: cupel run audit does that.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <boost/json.hpp>
#include <set>

#include "base/file.h"
#include "base/ownership.h"
#include "base/text.h"
#include "inventory/compare_assets.h"
#include "orchestrator/cli/commands.h"
#include "orchestrator/cli/say.h"
#include "orchestrator/cli/seen_assets.h"
#include "orchestrator/cli/site_store.h"
#include "orchestrator/report/serials.h"
#include "orchestrator/report/summary.h"
#include "orchestrator/requalify/changes.h"

namespace cupel::cli {
namespace {

using inventory::Asset;

constexpr std::size_t kLargestList = 256u << 20;

struct ListAsked {
  std::string file{};
  std::string columns{};  // "Serial=SN-Nr,Node=Rechner"
  bool skip_bad = false;
};

/// The list, and what was seen; or complains.
struct Compared {
  std::vector<Asset> assets{};
  Seen seen{};
  std::vector<inventory::SkippedRows> skipped{};
};

/// Each reason once, however many rows it has.
void say_skipped(const std::string& file, const std::vector<inventory::SkippedRows>& skipped) {
  for (const auto& each : skipped) {
    const auto more = each.rows - each.lines.size();
    say(stderr, "cupel: {}: {} row{} left out for {}: line{} {}{}{}\n", printable(file), each.rows,
        each.rows == 1 ? "" : "s", each.reason, each.rows == 1 ? "" : "s",
        fmt::join(each.lines, ", "), more == 0 ? "" : fmt::format(" and {} more", more),
        each.first == each.reason ? "" : fmt::format(" ({})", each.first));
  }
}

boost::json::array to_json(const std::vector<inventory::SkippedRows>& skipped) {
  boost::json::array all;
  for (const auto& each : skipped)
    all.push_back({{"reason", each.reason},
                   {"rows", each.rows},
                   {"lines", boost::json::array(each.lines.begin(), each.lines.end())},
                   {"first", each.first}});
  return all;
}

std::size_t count_rows(const std::vector<inventory::SkippedRows>& skipped) {
  std::size_t rows = 0;
  for (const auto& each : skipped) rows += each.rows;
  return rows;
}

OrExit<Compared> compared_or_exit(const Context& context, const ListAsked& asked) {
  inventory::AssetListRules rules{.skip_bad = asked.skip_bad};
  if (!asked.columns.empty()) {
    auto [columns, fault] = inventory::asset_column_names(asked.columns);
    if (!fault.empty())
      return print_error(context, Error{Code::kInvalid, "--columns: " + fault}, Exit::invalid);
    rules.columns = std::move(columns);
  }
  const auto text = read_trusted_file(asked.file, kLargestList);
  if (!text) return print_error(context, text.error(), Exit::invalid);
  std::vector<inventory::Problem> problems;
  auto list = inventory::parse_assets(*text, asked.file, rules, problems);
  if (!problems.empty()) return print_error(context, inventory::reported_once(std::move(problems)));
  const auto store = store::Store::open(context.state);
  auto seen = store ? seen_of_store(**store) : Result<Seen>{store.error()};
  if (!seen) return print_error(context, seen.error(), Exit::unfinished);
  if (!context.json) say_skipped(asked.file, list.skipped);
  return Compared{std::move(list.assets), *std::move(seen), std::move(list.skipped)};
}

boost::json::object to_json(const inventory::AssetFinding& finding) {
  boost::json::object object{{"finding", to_string(finding.state)},
                             {"node", finding.node},
                             {"kind", to_string(finding.kind)},
                             {"serial", finding.serial},
                             {"expected", finding.expected},
                             {"observed", finding.observed},
                             {"order", finding.order}};
  if (finding.where.line > 0) object["where"] = to_string(finding.where);
  return object;
}

Exit audit_assets(const Context& context, const ListAsked& asked) {
  TRY(const auto compared, compared_or_exit(context, asked));
  const auto findings =
      inventory::compare_assets(compared.assets, compared.seen.parts, compared.seen.unread);
  if (context.json) {
    boost::json::array all;
    for (const auto& each : findings) all.push_back(to_json(each));
    say("{}\n", boost::json::serialize(boost::json::object{{"assets", compared.assets.size()},
                                                           {"machines", compared.seen.parts.size()},
                                                           {"skipped", to_json(compared.skipped)},
                                                           {"findings", std::move(all)}}));
  } else {
    say("{}", rehearsal_line(context.state));
    for (const auto& each : findings) {
      say("{}{} {} {}: {}", each.where.line > 0 ? to_string(each.where) + ": " : "",
          each.node.empty() ? "-" : printable(each.node), to_string(each.kind),
          printable(each.serial), to_string(each.state));
      if (!each.observed.empty()) say(", {}", printable(each.observed));
      if (!each.expected.empty()) say("; expected {}", printable(each.expected));
      if (!each.order.empty()) say(" (order {})", printable(each.order));
      say("\n");
    }
    const auto skipped = count_rows(compared.skipped);
    say("{} assets{}, {} machines seen: {}\n", compared.assets.size(),
        skipped == 0 ? "" : fmt::format(" ({} row{} left out)", skipped, skipped == 1 ? "" : "s"),
        compared.seen.parts.size(),
        findings.empty() ? "all as listed" : fmt::format("{} findings", findings.size()));
  }
  return findings.empty() ? Exit::passed : Exit::failed;
}

Exit audit_arrivals(const Context& context, const ListAsked& asked) {
  TRY(const auto compared, compared_or_exit(context, asked));
  const auto arrivals =
      inventory::arrivals_of(compared.assets, compared.seen.parts, compared.seen.unread);
  const auto complete =
      static_cast<std::size_t>(std::ranges::count_if(arrivals, &inventory::Arrival::can_start));
  if (context.json) {
    boost::json::array all;
    for (const auto& each : arrivals)
      all.push_back({{"node", each.node},
                     {"seen", each.is_seen},
                     {"expected", each.expected},
                     {"here", each.here},
                     {"can_start", each.can_start()},
                     {"due", boost::json::array(each.due.begin(), each.due.end())}});
    say("{}\n", boost::json::serialize(boost::json::object{
                    {"nodes", std::move(all)}, {"skipped", to_json(compared.skipped)}}));
  } else {
    constexpr std::size_t kMostDue = 5;
    for (const auto& each : arrivals) {
      say("{:<16} {:>4} of {:<4} {}\n", printable(each.node), each.here, each.expected,
          each.can_start() ? "can start"
          : each.is_seen   ? "not complete"
                           : "not here");
      for (std::size_t i = 0; i < std::min(each.due.size(), kMostDue); ++i)
        say("  {}\n", printable(each.due[i]));
      if (each.due.size() > kMostDue) say("  and {} more\n", each.due.size() - kMostDue);
    }
    std::vector<std::string> ready;
    for (const auto& each : arrivals)
      if (each.can_start()) ready.push_back(each.node);
    say("{} of {} machines can start{}\n", complete, arrivals.size(),
        ready.empty() ? "" : fmt::format(": cupel run new-rack --nodes {}", fmt::join(ready, ",")));
  }
  return complete == arrivals.size() ? Exit::passed : Exit::failed;
}

struct DiffAsked {
  engine::RunId older = 0, newer = 0;
};

/// What differs of one machine, as a person reads it.
struct NodeDiff {
  std::string node{};
  std::vector<std::string> lines{};
};

std::set<std::string> findings_of(const record::NodeRecord& record) {
  std::set<std::string> lines;
  if (record.audit)
    for (const auto& each : *record.audit)
      lines.insert(fmt::format("{}: {} {}, expected {}", each.part, to_string(each.finding),
                               each.observed, each.expected));
  return lines;
}

NodeDiff diff_of(const record::NodeRecord& older, const record::NodeRecord& newer) {
  NodeDiff diff{.node = newer.node};
  const auto was = report::chassis_serial(older), is = report::chassis_serial(newer);
  if (was != is) diff.lines.push_back(fmt::format("chassis: serial {} is now {}", was, is));
  for (const auto& each : requalify::changes_between(older, newer))
    diff.lines.push_back(to_string(each));
  for (const auto& each : requalify::silent_sources(older, newer))
    diff.lines.push_back(each + " reports no parts any more");
  // A BMC that never lists all is no news in each of a cron job's mails.
  const auto were_partial = requalify::partial_sources(older);
  for (auto& each : requalify::partial_sources(newer))
    if (std::ranges::find(were_partial, each) == were_partial.end())
      diff.lines.push_back(std::move(each));
  const auto before = findings_of(older), after = findings_of(newer);
  for (const auto& each : after)
    if (!before.contains(each)) diff.lines.push_back("new finding: " + each);
  for (const auto& each : before)
    if (!after.contains(each)) diff.lines.push_back("no more: " + each);
  return diff;
}

Result<std::vector<NodeDiff>> diffs_of(const store::Store& store, const DiffAsked& asked) {
  TRY(const auto older, store.run(asked.older));
  TRY(const auto newer, store.run(asked.newer));
  const std::set<std::string> before{older.nodes.begin(), older.nodes.end()};
  const std::set<std::string> after{newer.nodes.begin(), newer.nodes.end()};
  std::vector<NodeDiff> diffs;
  for (const auto& node : newer.nodes) {
    if (!before.contains(node)) {
      diffs.push_back({node, {fmt::format("was not in run {}", asked.older)}});
      continue;
    }
    TRY(const auto one, record::node_record(store, asked.older, node));
    TRY(const auto other, record::node_record(store, asked.newer, node));
    if (auto diff = diff_of(one, other); !diff.lines.empty()) diffs.push_back(std::move(diff));
  }
  for (const auto& node : older.nodes)
    if (!after.contains(node))
      diffs.push_back({node, {fmt::format("is not in run {}", asked.newer)}});
  return diffs;
}

Exit audit_diff(const Context& context, const DiffAsked& asked) {
  const auto store = store::Store::open(context.state);
  if (!store) return print_error(context, store.error(), Exit::unfinished);
  const auto diffs = diffs_of(**store, asked);
  if (!diffs) return print_error(context, diffs.error(), Exit::invalid);
  if (context.json) {
    boost::json::array all;
    for (const auto& each : *diffs)
      all.push_back({{"node", each.node},
                     {"differences", boost::json::array(each.lines.begin(), each.lines.end())}});
    say("{}\n", boost::json::serialize(boost::json::object{
                    {"older", asked.older}, {"newer", asked.newer}, {"nodes", std::move(all)}}));
  } else {
    say("{}", rehearsal_line(context.state));
    for (const auto& each : *diffs) {
      say("{}\n", printable(each.node));
      for (const auto& line : each.lines) say("  {}\n", printable(line));
    }
    say("run {} against run {}: {}\n", asked.newer, asked.older,
        diffs->empty() ? "no difference" : fmt::format("{} machines differ", diffs->size()));
  }
  return diffs->empty() ? Exit::passed : Exit::failed;
}

CommandRow list_command(Context& context, const char* name, const char* summary,
                        const char* example, Exit (*act)(const Context&, const ListAsked&)) {
  auto asked = std::make_shared<ListAsked>();
  CommandRow row{name, summary};
  row.footer = example;
  row.options = {
      {"FILE", &asked->file,
       "CSV with a header: Node, Kind, Serial, Model, Slot, Part Number, Purchase Order, Due",
       kRequired},
      {"--columns", &asked->columns,
       "what columns are called whose names are not known: Serial=SN-Nr,Node=Rechner"},
      {"--skip-bad", &asked->skip_bad,
       "leave out rows that cannot be used, and say which; without it the list is refused"},
      json_flag(context)};
  row.run = [&context, asked, act] { return act(context, *asked); };
  return row;
}

}  // namespace

CommandRow audit_command(Context& context) {
  auto asked = std::make_shared<DiffAsked>();
  CommandRow diff_row{"diff", "what differs between two runs; for cron jobs"};
  diff_row.footer = "Example: cupel audit diff 12 40";
  diff_row.options = {{"OLDER", &asked->older, "number of the run before", kRequired},
                      {"NEWER", &asked->newer, "number of the run after", kRequired},
                      json_flag(context)};
  diff_row.run = [&context, asked] { return audit_diff(context, *asked); };
  CommandRow row{"audit",
                 "what runs have seen, against a list of assets, a delivery or another run"};
  row.footer =
      "Examples: cupel run audit                     reads the machines\n"
      "          cupel audit assets assets.csv       what is missing, moved, swapped or not "
      "listed\n"
      "          cupel audit assets assets.csv --columns Serial=SN-Nr,Node=Rechner --skip-bad\n"
      "          cupel audit arrivals assets.csv     what is here, what is due, which nodes can "
      "start\n"
      "          cupel audit diff 12 40              what differs between two runs\n"
      "Exit codes: 0 all as it should be, 1 something differs, 2 the input is wrong, 3 the store\n"
      "            could not be read.";
  row.subcommands = {
      list_command(context, "assets",
                   "each asset of a list against what was seen, to the serial number",
                   "Example: cupel audit assets assets.csv", audit_assets),
      list_command(context, "arrivals",
                   "a delivery in instalments: what is here, what is due, which nodes can start",
                   "Example: cupel audit arrivals assets.csv", audit_arrivals),
      diff_row};
  return row;
}

}  // namespace cupel::cli
