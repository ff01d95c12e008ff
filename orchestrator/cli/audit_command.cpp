// audit: what runs have seen of the machines, against a list of assets, against what is due, and
// against what another run saw. Reads the store; asks no machine: cupel run audit does that.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <boost/json.hpp>
#include <map>
#include <set>

#include "base/file.h"
#include "base/ownership.h"
#include "base/text.h"
#include "inventory/compare_assets.h"
#include "orchestrator/cli/commands.h"
#include "orchestrator/cli/say.h"
#include "orchestrator/cli/site_store.h"
#include "orchestrator/record/seen_parts.h"
#include "orchestrator/report/serials.h"
#include "orchestrator/report/summary.h"
#include "orchestrator/requalify/changes.h"

namespace cupel::cli {
namespace {

using inventory::Asset;
using inventory::SeenAssets;

constexpr std::size_t kLargestList = 256u << 20;
constexpr std::size_t kMostRunsBack = 500;
constexpr int kMostReadings = 8;  // runs of one machine since one that read a part

/// What machines report, and what they reported by a source that has failed since.
struct Seen {
  SeenAssets parts{}, unread{};
};

/// Of one machine while its runs are read.
struct Readings {
  record::SeenParts parts{};
  int runs = 0;
  bool is_complete = false;
};

/// Of each machine and each source of its parts the newest reading.
Result<Seen> seen_of_store(const store::Store& store) {
  std::map<std::string, Readings, std::less<>> readings;
  TRY(const auto runs, store.runs(kMostRunsBack));
  for (const auto& run : runs)
    for (const auto& node : run.nodes) {
      auto& of = readings[node];
      if (of.is_complete || of.runs == kMostReadings) continue;
      TRY(const auto record, record::node_record(store, run.id, node));
      of.is_complete = !of.parts.take(record);
      of.runs += of.parts.parts().empty() ? 0 : 1;
    }
  Seen seen;
  for (const auto& [node, of] : readings) {
    if (auto parts = of.parts.parts(); !parts.empty()) seen.parts.emplace(node, std::move(parts));
    if (auto unread = of.parts.unread(); !unread.empty())
      seen.unread.emplace(node, std::move(unread));
  }
  return seen;
}

struct ListAsked {
  std::string file{};
};

/// The list, and what was seen; or complains.
struct Compared {
  std::vector<Asset> assets{};
  Seen seen{};
};

OrExit<Compared> compared_or_complain(const Context& context, const ListAsked& asked) {
  const auto text = read_trusted_file(asked.file, kLargestList);
  if (!text) return complain(context, text.error(), Exit::invalid);
  std::vector<inventory::Problem> problems;
  Compared compared;
  compared.assets = inventory::parse_assets(*text, asked.file, problems);
  if (!problems.empty()) return complain(context, inventory::told_once(std::move(problems)));
  const auto store = store::Store::open(context.state);
  auto seen = store ? seen_of_store(**store) : Result<Seen>{store.error()};
  if (!seen) return complain(context, seen.error(), Exit::unfinished);
  compared.seen = *std::move(seen);
  return compared;
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
  TRY(const auto compared, compared_or_complain(context, asked));
  const auto findings =
      inventory::compare_assets(compared.assets, compared.seen.parts, compared.seen.unread);
  if (context.json) {
    boost::json::array all;
    for (const auto& each : findings) all.push_back(to_json(each));
    say("{}\n", boost::json::serialize(boost::json::object{{"assets", compared.assets.size()},
                                                           {"machines", compared.seen.parts.size()},
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
    say("{} assets, {} machines seen: {}\n", compared.assets.size(), compared.seen.parts.size(),
        findings.empty() ? "all as listed" : fmt::format("{} findings", findings.size()));
  }
  return findings.empty() ? Exit::passed : Exit::failed;
}

Exit audit_arrivals(const Context& context, const ListAsked& asked) {
  TRY(const auto compared, compared_or_complain(context, asked));
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
    say("{}\n", boost::json::serialize(boost::json::object{{"nodes", std::move(all)}}));
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
  if (!store) return complain(context, store.error(), Exit::unfinished);
  const auto diffs = diffs_of(**store, asked);
  if (!diffs) return complain(context, diffs.error(), Exit::invalid);
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
