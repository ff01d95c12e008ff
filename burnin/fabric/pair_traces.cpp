#include "burnin/fabric/pair_traces.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>
#include <set>
#include <utility>

#include "base/text.h"
#include "burnin/fabric/discovery/port_counters.h"
#include "burnin/fabric/discovery/scan.h"
#include "burnin/script.h"
#include "inventory/seen_fabric.h"

namespace cupel::burnin::fabric {
namespace {

constexpr int kOneQuery = 5;             // seconds
constexpr std::size_t kMostIslands = 8;  // of one node's HCAs
constexpr std::size_t kPortsOfAQuery = 32;
constexpr int kLastLid = 0xbfff;  // of unicast
constexpr std::string_view kLacks = "cupel-missing: ";
constexpr std::string_view kBefore = "ports-before", kAfter = "ports-after";

std::string section_name(std::string_view kind, int rail) {
  return fmt::format("{}{}", kind, rail);
}

std::string_view section_of(const Output& output, const std::string& name) {
  for (const auto& section : script::sections(output.text))
    if (section.name == name && section.whole) return section.text;
  return {};
}

/// `Switch	65 "S-b0cf0e0300000700"		# "MF0;leaf1-r1:MQM9700/U1" enhanced port 0 lid 2
/// lmc 0`
struct ListedSwitch {
  std::string guid{}, name{};
  int lid = 0;
};

std::optional<ListedSwitch> switch_in(std::string_view line) {
  Scan scan{line};
  if (!scan.skip("Switch") || !scan.until("\"S-")) return std::nullopt;
  const auto guid = scan.hexadecimal();
  const auto description = scan.until("# \"") ? scan.until("\"") : std::nullopt;
  const auto at = scan.rest().rfind(" lid ");
  if (!guid || !description || at == std::string_view::npos) return std::nullopt;
  Scan end{scan.rest().substr(at)};
  end.skip(" lid ");
  const auto lid = end.number<int>();
  if (!lid || *lid < 1 || *lid > kLastLid) return std::nullopt;
  return ListedSwitch{inventory::guid_text(*guid),
                      lower_case(printable(valid_utf8(inventory::switch_name(*description)))),
                      *lid};
}

}  // namespace

std::vector<int> lids_of(std::string_view printed, const Names& names) {
  std::map<std::string, std::size_t, std::less<>> leaves;  // by GUID, or by name
  for (std::size_t i = 0; i < names.leaves.size(); ++i) {
    const bool has_guid = i < names.leaf_guids.size() && !names.leaf_guids[i].empty();
    leaves.try_emplace(lower_case(has_guid ? names.leaf_guids[i] : names.leaves[i]), i);
  }
  std::vector<int> lids(names.leaves.size());
  std::vector<std::string> guids(names.leaves.size());
  std::set<std::size_t> twice;
  for_each_line(printed, [&](std::string_view line) {
    const auto listed = switch_in(line);
    if (!listed) return;
    auto at = leaves.find(listed->guid);
    if (at == leaves.end()) at = leaves.find(listed->name);
    if (at == leaves.end()) return;
    const auto leaf = at->second;
    if (!guids[leaf].empty() && guids[leaf] != listed->guid) twice.insert(leaf);
    guids[leaf] = listed->guid;
    lids[leaf] = listed->lid;
  });
  for (const auto leaf : twice) lids[leaf] = 0;
  return lids;
}

PairTraces::PairTraces(PairScreen& screen, const Names& names, std::span<const PairNode> nodes,
                       Perftest perftest)
    : screen_{screen},
      names_{names},
      nodes_{nodes},
      perftest_{std::move(perftest)},
      traces_{screen} {}

std::vector<int> PairTraces::ports_of(int leaf) const {
  const auto uplinks = static_cast<std::size_t>(screen_.topology().wiring().uplinks);
  std::vector<int> ports;
  for (std::size_t i = 0; i < uplinks; ++i) {
    const auto at = static_cast<std::size_t>(leaf) * uplinks + i;
    const auto port = at < names_.uplink_ports.size() ? number<int>(names_.uplink_ports[at])
                                                      : std::optional<int>{};
    ports.push_back(port.value_or(0));
  }
  return ports;
}

/// Of the uplinks of both leaves, where ibnetdiscover has listed them.
std::vector<CounterQuery> PairTraces::queries(const Flow& flow) const {
  std::vector<CounterQuery> all;
  const auto& hca = node_at(flow.from).hcas[static_cast<std::size_t>(flow.rail)];
  for (const int node : {flow.from, flow.to}) {
    const int leaf = leaf_of(node, flow.rail);
    const int lid = lids_[static_cast<std::size_t>(leaf)];
    auto ports = lid == 0 ? std::vector<int>{} : ports_of(leaf);
    std::erase(ports, 0);
    for (std::size_t at = 0; at < ports.size(); at += kPortsOfAQuery) {
      const auto some = std::span{ports}.subspan(at, std::min(kPortsOfAQuery, ports.size() - at));
      all.push_back({flow.rail, hca, lid, {some.begin(), some.end()}});
    }
  }
  return all;
}

/// One HCA for each set of leaves that spines connect.
std::vector<std::string> PairTraces::hcas_of_islands(int node) const {
  const auto& wiring = screen_.topology().wiring();
  std::vector<int> above(static_cast<std::size_t>(wiring.leaves + wiring.spines));
  std::iota(above.begin(), above.end(), 0);
  const auto root = [&](int at) {
    while (above[static_cast<std::size_t>(at)] != at) at = above[static_cast<std::size_t>(at)];
    return at;
  };
  for (std::size_t i = 0; i < wiring.spine_of_uplink.size(); ++i)
    if (const int spine = wiring.spine_of_uplink[i]; spine >= 0)
      above[static_cast<std::size_t>(root(wiring.leaves + spine))] =
          root(static_cast<int>(i) / wiring.uplinks);
  std::set<int> seen;
  std::vector<std::string> hcas;
  for (int rail = 0; rail < wiring.rails && hcas.size() < kMostIslands; ++rail)
    if (const int leaf = leaf_of(node, rail); leaf >= 0 && seen.insert(root(leaf)).second)
      hcas.push_back(node_at(node).hcas[static_cast<std::size_t>(rail)]);
  return hcas;
}

/// Senders of what is to be traced.
std::optional<int> PairTraces::next_looker() const {
  if (looked_.size() == kMostLooks) return std::nullopt;
  for (const auto& flow : traces_.next_flows())
    if (std::ranges::find(looked_, flow.from) == looked_.end() && !screen_.is_absent(flow.from))
      return flow.from;
  return std::nullopt;
}

std::vector<std::optional<MemberJob>> PairTraces::look(int node) const {
  std::vector<std::optional<MemberJob>> jobs(nodes_.size());
  jobs[static_cast<std::size_t>(node)] = MemberJob{
      "looks for switches", pair_script(switches_order(hcas_of_islands(node))), kMostOfALook};
  return jobs;
}

/// What the queries of both leaves take, before and after the flow.
std::chrono::seconds PairTraces::limit_of_queries() const {
  const auto uplinks = static_cast<std::size_t>(screen_.topology().wiring().uplinks);
  const auto of_a_leaf = (uplinks + kPortsOfAQuery - 1) / kPortsOfAQuery;
  return std::chrono::seconds{kOneQuery} * static_cast<int>(4 * of_a_leaf);
}

std::vector<std::optional<MemberJob>> PairTraces::measure() const {
  std::vector<std::vector<Flow>> of_node(nodes_.size());
  std::vector<std::vector<CounterQuery>> read(nodes_.size());
  std::vector<int> sends(nodes_.size());
  for (const auto& flow : traces_.next_flows()) {
    const auto sender = static_cast<std::size_t>(flow.from);
    ++sends[sender];
    of_node[sender].push_back(flow);
    of_node[static_cast<std::size_t>(flow.to)].push_back(flow);
    std::ranges::move(queries(flow), std::back_inserter(read[sender]));
  }
  std::vector<std::optional<MemberJob>> jobs(nodes_.size());
  for (std::size_t i = 0; i < nodes_.size(); ++i) {
    auto order = pair_order(perftest_, nodes_, static_cast<int>(i), of_node[i], read[i]);
    if (!order.empty())
      jobs[i] = MemberJob{fmt::format("trace {}", traces_.rounds()), pair_script(std::move(order)),
                          pair_limit(perftest_) + sends[i] * limit_of_queries()};
  }
  return jobs;
}

std::vector<std::optional<MemberJob>> PairTraces::next() {
  if (traces_.next_flows().empty()) return {};
  looks_ = lids_.empty();
  if (!looks_) return measure();
  const auto node = next_looker();
  if (!node) return {};
  looked_.push_back(*node);
  return look(*node);
}

void PairTraces::take(std::span<const std::optional<Output>> outputs) {
  if (looks_)
    take_look(outputs[static_cast<std::size_t>(looked_.back())]);
  else
    take_flows(outputs);
}

void PairTraces::take_look(const std::optional<Output>& output) {
  std::string why = "its job failed";
  if (output) {
    auto lids = lids_of(output->text, names_);
    const auto lacks = script::after_mark(*output, kLacks);
    if (lacks)
      why = script::clean(*lacks) + " is not installed (infiniband-diags)";
    else if (std::ranges::all_of(lids, [](int lid) { return lid == 0; }))
      why = "ibnetdiscover lists no leaf of the plan: " + script::complaint(*output);
    else
      lids_ = std::move(lids);
  }
  if (!lids_.empty()) {
    why_not_.clear();
    return;
  }
  const auto& name = names_.nodes[static_cast<std::size_t>(looked_.back())];
  why_not_ += fmt::format("{}{}: {}", why_not_.empty() ? "" : "; ", name, why);
}

/// By uplink; NaN: not read, or the counter went backwards.
std::vector<double> PairTraces::growth(std::string_view before, std::string_view after, int leaf,
                                       bool sent) const {
  constexpr double kUnit = 4;  // bytes
  const auto earlier = parse_port_traffic(before), later = parse_port_traffic(after);
  const auto count_of = [&](const auto& all, int port) {
    const auto at = all.find({lids_[static_cast<std::size_t>(leaf)], port});
    if (at == all.end()) return std::optional<std::uint64_t>{};
    return sent ? at->second.sent : at->second.received;
  };
  std::vector<double> grown;
  for (const int port : ports_of(leaf)) {
    if (port == 0) {  // no cable
      grown.push_back(0);
      continue;
    }
    const auto first = count_of(earlier, port), last = count_of(later, port);
    const bool is_read = first && last && *last >= *first;
    grown.push_back(is_read ? kUnit * static_cast<double>(*last - *first) : std::nan(""));
  }
  return grown;
}

Trace PairTraces::trace(const Flow& flow, const Output& output, double gigabits) const {
  constexpr double kBytes = 1e9 / 8;
  const auto before = section_of(output, section_name(kBefore, flow.rail)),
             after = section_of(output, section_name(kAfter, flow.rail));
  const double bytes = gigabits * kBytes * static_cast<double>(perftest_.duration.count());
  return trace_of(screen_.topology(), flow, bytes,
                  growth(before, after, leaf_of(flow.from, flow.rail), true),
                  growth(before, after, leaf_of(flow.to, flow.rail), false));
}

void PairTraces::take_flows(std::span<const std::optional<Output>> outputs) {
  std::vector<double> readings;
  std::vector<Trace> traces;
  for (const auto& flow : traces_.next_flows()) {
    const auto& sender = outputs[static_cast<std::size_t>(flow.from)];
    const auto reading = sender ? reading_of(*sender, flow.rail) : std::nullopt;
    readings.push_back(reading.value_or(std::nan("")));
    traces.push_back(sender && reading ? trace(flow, *sender, *reading) : Trace{});
  }
  traces_.take(readings, traces);
}

std::vector<std::string> PairTraces::reasons() const {
  auto lines = traces_.reasons(names_);
  if (!why_not_.empty())
    lines.push_back(
        "uplinks of slow flows were not traced: " + why_not_ +
        ". With infiniband-diags on the nodes, and root or access to /dev/infiniband/umad*, port "
        "counters show which uplink a flow takes");
  return lines;
}

}  // namespace cupel::burnin::fabric
