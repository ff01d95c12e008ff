#include "burnin/fabric/pair_stage.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "base/text.h"
#include "burnin/agent_stage.h"
#include "burnin/fabric/cable_swap.h"
#include "burnin/fabric/pair_findings.h"
#include "burnin/fabric/pair_jobs.h"
#include "burnin/fabric/pair_latency.h"
#include "burnin/fabric/pair_retransmits.h"
#include "burnin/fabric/pair_traces.h"
#include "burnin/fabric/plan_wiring.h"
#include "burnin/parameters.h"
#include "burnin/script.h"
#include "inventory/fabric_rule.h"
#include "inventory/node_range.h"
#include "inventory/profile.h"

namespace cupel::burnin {
namespace {

using fabric::Flow;
using fabric::Perftest;
using fabric::Routing;
using std::chrono::seconds;

constexpr std::array<std::string_view, 1> kPrograms{"cupel-node"};
constexpr std::array<std::string_view, 2> kTests{"write", "read"};
constexpr std::array<std::string_view, 2> kYesOrNo{"yes", "no"};
constexpr std::array<std::string_view, 2> kMemories{"host", "gpu"};
constexpr std::array<std::string_view, 4> kRoutings{"unknown", "by-destination", "adaptive",
                                                    "ecmp"};
constexpr std::array kPairParameters{
    ParameterRow{"duration", ParameterRow::Kind::duration, "of each flow", "10s", {}, 2, 120},
    ParameterRow{"test", ParameterRow::Kind::word, "ib_write_bw or ib_read_bw", "write", kTests},
    ParameterRow{"memory", ParameterRow::Kind::word, "where the data lies: gpu is GPU k on rail k",
                 "host", kMemories},
    ParameterRow{"latency", ParameterRow::Kind::word,
                 "yes: then the latency of small messages between the same pairs (ib_send_lat)",
                 "no", kYesOrNo},
    ParameterRow{"port", ParameterRow::Kind::text,
                 "on which rail 0 listens; rail k on the k-th after it", "18515"},
    ParameterRow{
        "gid", ParameterRow::Kind::text,
        "index of RoCE's GID, 0 to 255; site: NCCL_IB_GID_INDEX of the inventory's fabric: "
        "nccl:, else as perftest chooses",
        "site"},
    ParameterRow{"tclass", ParameterRow::Kind::text,
                 "traffic class of RoCE, 0 to 255; site: NCCL_IB_TC of the inventory's fabric: "
                 "nccl:, else none",
                 "site"},
    ParameterRow{"routing", ParameterRow::Kind::word,
                 "how leaves choose uplinks: by-destination lets uplinks be named, where the "
                 "inventory has the forwarding tables (fabric: forwarding:); ecmp is by a hash of "
                 "each connection",
                 "unknown", kRoutings},
    ParameterRow{
        "qps", ParameterRow::Kind::text,
        "queue pairs of each flow, 1 to 256; site: 16 on RoCE (a GID or a traffic class is "
        "set, or routing is ecmp), so that a hash spreads a flow over uplinks; else 1",
        "site"},
    ParameterRow{"exchanged", ParameterRow::Kind::text,
                 "two ports whose plugs were exchanged since the plan was made: leaf1-r3/7,"
                 "leaf1-r3/8",
                 "none"},
    ParameterRow{"hcas", ParameterRow::Kind::text,
                 "without a cable plan: the HCAs, rail by rail, separated by commas", "plan"},
    ParameterRow{"group", ParameterRow::Kind::text,
                 "without a cable plan: nodes that share their leaves", "32"},
};
constexpr std::array<std::string_view, 9> kPairMeasures{
    "fabric.flows",        "fabric.link.bandwidth", "fabric.link.loss",
    "fabric.node.loss",    "fabric.switch.loss",    "fabric.undecided",
    "fabric.link.latency", "fabric.link.lag",       "fabric.link.retransmits"};
constexpr int kMostRails = 64, kMostLatencyRounds = 4, kMostGroup = 4096;
/// Readings one after the other, repeats among them, of healthy fleets of two leaf groups or more:
/// four fixed rounds of three, and one or two rounds of nine for parts that dipped.
constexpr int kUsualReadings = 22;
constexpr int kMostReadings = fabric::most_readings({});
constexpr int kMostTimeouts = 12;  // readings that end by their limit
constexpr seconds kOfARound{6};    // to connect, to start, to read

Result<int> number_between(const Parameters& parameters, std::string_view name, int least,
                           int most) {
  const auto written = text_parameter(kPairParameters, parameters, name);
  const auto value = number<int>(written);
  if (value && *value >= least && *value <= most) return *value;
  return Error{Code::kInvalid, fmt::format("{} must be {} to {}, not '{}'", name, least, most,
                                           shortened(printable(written), 80))};
}

/// As the step says, or else the variable of NCCL's that the site sets; nothing: neither does.
Result<std::optional<int>> of_roce(const Parameters& parameters, std::string_view name,
                                   const inventory::NcclSettings* site, const char* variable) {
  constexpr int kMost = 255;
  if (text_parameter(kPairParameters, parameters, name) != "site") {
    TRY(const auto value, number_between(parameters, name, 0, kMost));
    return std::optional{value};
  }
  if (site == nullptr) return std::optional<int>{};
  const auto set = site->environment.find(variable);
  if (set == site->environment.end()) return std::optional<int>{};
  const auto value = number<int>(set->second);
  if (value && *value >= 0 && *value <= kMost) return std::optional{*value};
  if (value && *value < 0) return std::optional<int>{};  // NCCL's own word for: choose
  return Error{Code::kInvalid,
               fmt::format("{} of the inventory's fabric: nccl: is '{}', not 0 to {}: say {} with "
                           "the step",
                           variable, shortened(printable(set->second), 80), kMost, name)};
}

Result<int> queue_pairs_of(const Parameters& parameters, bool is_roce) {
  constexpr int kMost = 256, kOfRoce = 16;
  if (text_parameter(kPairParameters, parameters, "qps") != "site")
    return number_between(parameters, "qps", 1, kMost);
  const bool hashes = text_parameter(kPairParameters, parameters, "routing") == "ecmp";
  return is_roce || hashes ? kOfRoce : 1;
}

Result<Perftest> perftest_of(const Parameters& parameters, const inventory::NcclSettings* site) {
  constexpr int kMostPort = 65535;
  Perftest made;
  TRY(made.duration, duration_parameter(kPairParameters, parameters, "duration"));
  TRY(const auto test, word_parameter(kPairParameters, parameters, "test"));
  TRY(const auto memory, word_parameter(kPairParameters, parameters, "memory"));
  TRY(made.port, number_between(parameters, "port", 1024, kMostPort - kMostRails));
  TRY(made.gid, of_roce(parameters, "gid", site, "NCCL_IB_GID_INDEX"));
  TRY(made.tclass, of_roce(parameters, "tclass", site, "NCCL_IB_TC"));
  TRY(made.queue_pairs, queue_pairs_of(parameters, made.gid || made.tclass));
  made.program = "ib_" + test + "_bw";
  made.gpu_memory = memory == "gpu";
  return made;
}

Result<Routing> routing_of(const Parameters& parameters) {
  TRY(const auto word, word_parameter(kPairParameters, parameters, "routing"));
  const auto at = std::ranges::find(kRoutings, word) - kRoutings.begin();
  constexpr std::array kAll{Routing::unknown, Routing::by_destination, Routing::adaptive,
                            Routing::ecmp};
  return kAll[static_cast<std::size_t>(at)];
}

/// "mlx5_0,mlx5_3": letters, digits and "_-." only.
Result<std::vector<std::string>> hcas_of(const Parameters& parameters) {
  const auto written = text_parameter(kPairParameters, parameters, "hcas");
  std::vector<std::string> hcas;
  for (std::size_t at = 0; at <= written.size();) {
    const auto end = std::min(written.find(',', at), written.size());
    const auto name = trimmed(written.substr(at, end - at));
    const bool sound =
        !name.empty() && name.size() <= 32 && std::ranges::all_of(name, [](unsigned char c) {
          return std::isalnum(c) != 0 || c == '_' || c == '-' || c == '.';
        });
    if (!sound || hcas.size() == kMostRails)
      return Error{Code::kInvalid,
                   fmt::format("hcas must be HCAs separated by commas (mlx5_0,mlx5_1), not '{}'",
                               shortened(printable(written), 80))};
    hcas.emplace_back(name);
    at = end + 1;
  }
  return hcas;
}

/// As the inventory has it; else by the rule that `hcas` and `group` are.
Result<inventory::Fabric> fabric_of(const RoundsRequest& request) {
  if (text_parameter(kPairParameters, request.parameters, "hcas") == "plan") {
    if (request.fabric != nullptr) return *request.fabric;
    return Error{Code::kInvalid,
                 "the inventory has no cable plan: add fabric: to it, or say with: {hcas: "
                 "'mlx5_0,mlx5_1,...'}"};
  }
  TRY(const auto hcas, hcas_of(request.parameters));
  inventory::FabricRule rule;
  TRY(rule.group, number_between(request.parameters, "group", 1, kMostGroup));
  rule.switch_ports = kMostGroup;  // nothing of its leaves is known but who shares them
  std::vector<inventory::FabricMember> members;
  for (const auto& member : request.members) members.push_back({member.node, hcas});
  std::vector<inventory::Problem> problems;
  return make_fabric(rule, members, problems);
}

/// What was exchanged since the plan was made; empty: nothing.
std::string_view exchange_in(const Parameters& parameters) {
  const auto written = text_parameter(kPairParameters, parameters, "exchanged");
  return written == "none" ? std::string_view{} : written;
}

/// As it is cabled now. Errors: kInvalid: an exchange that cannot be, or of uplinks that are not
/// assessed.
Result<inventory::Fabric> cabled_fabric(const RoundsRequest& request, Routing routing) {
  TRY(auto planned, fabric_of(request));
  const auto written = exchange_in(request.parameters);
  if (written.empty()) return planned;
  TRY(const auto exchange, fabric::exchange_of(written, planned));
  TRY(auto now, fabric::exchanged(planned, exchange));
  const bool uplinks = !fabric::is_of_a_node(planned, exchange);
  if (uplinks && routing != Routing::by_destination)
    return Error{Code::kInvalid,
                 "exchanged: uplinks are assessed with routing: by-destination alone"};
  return std::move(now.fabric);
}

/// What the profile expects of an HCA's bandwidth; 0: nothing.
double floor_of(const inventory::Profile& profile) {
  for (const auto& criterion : profile.criteria)
    if (criterion.measure == "fabric.link.bandwidth" && criterion.at_least)
      return *criterion.at_least;
  return 0;
}

bool can_trace(const Perftest& perftest, Routing routing) {
  const bool is_static = routing == Routing::unknown || routing == Routing::by_destination;
  return is_static && perftest.program == "ib_write_bw" && !perftest.gid && !perftest.tclass;
}

class PairRounds : public GroupRounds {
 public:
  PairRounds(fabric::PlannedWiring planned, Perftest perftest, std::vector<fabric::PairNode> nodes,
             double floor, std::string_view exchanged, bool latency)
      : exchanged_{exchanged},
        stale_{std::move(planned.stale)},
        names_{std::move(planned.names)},
        perftest_{std::move(perftest)},
        nodes_{std::move(nodes)},
        screen_{std::move(planned.wiring), {.floor = floor}},
        retransmits_{screen_.topology()},
        left_(nodes_.size()),
        memory_(nodes_.size()) {
    if (latency) latency_.emplace(screen_.topology());
  }

  std::vector<std::optional<MemberJob>> next() override {
    if (auto jobs = next_traces(); !jobs.empty()) return jobs;
    std::vector<std::optional<MemberJob>> jobs(nodes_.size());
    times_ = screen_.next_flows().empty() && latency_;
    const auto flows = times_ ? latency_->next_flows() : screen_.next_flows();
    if (flows.empty()) return {};
    const auto perftest = times_ ? latency_test() : perftest_;
    const auto role =
        times_ ? fmt::format("latency, round {}", latency_->rounds())
               : fmt::format("round {}{}", screen_.rounds(), screen_.repeats() ? ", again" : "");
    const auto of_node = flows_of_nodes(flows);
    for (std::size_t i = 0; i < nodes_.size(); ++i) {
      auto order = fabric::pair_order(perftest, nodes_, static_cast<int>(i), of_node[i]);
      if (!order.empty())
        jobs[i] =
            MemberJob{role, fabric::pair_script(std::move(order)), fabric::pair_limit(perftest)};
    }
    return jobs;
  }

  void take(std::span<const std::optional<Output>> printed,
            const std::vector<bool>& left) override {
    const auto outputs = reports_of(printed);
    for (std::size_t i = 0; i < left.size(); ++i) {
      if (left[i] && !left_[i]) screen_.leave(static_cast<int>(i));
      if (!outputs[i]) continue;
      if (auto memory = fabric::memory_of(*outputs[i]); !memory.empty())
        memory_[i] = std::move(memory);
      // Its partners would wait for it in each round.
      if (fabric::is_no_memory(memory_[i])) screen_.leave(static_cast<int>(i));
    }
    left_ = left;
    if (traces_now_) {
      traces_->take(outputs);
    } else if (times_) {
      take_times(outputs);
    } else {
      std::vector<double> readings;
      for (const auto& flow : screen_.next_flows()) {
        readings.push_back(read(flow, outputs));
        count_retransmits(flow, outputs);
      }
      screen_.take(readings);
    }
    if (!latency_) return;
    for (std::size_t i = 0; i < left_.size(); ++i)
      if (left_[i]) latency_->leave(static_cast<int>(i));
  }

  Result<GroupFindings> findings() const override {
    TRY(auto found, fabric::pair_findings(screen_, names_, left_, unmeasured_));
    if (latency_) latency_->add_to(names_, found);
    retransmits_.add_to(names_, found);
    add_memory(found);
    if (traces_) std::ranges::move(traces_->reasons(), std::back_inserter(found.reasons));
    if (!stale_.empty())
      found.reasons.push_back("the forwarding tables are stale and not used: " + stale_);
    if (exchanged_.empty()) return found;
    for (auto& member : found.members) member.facts["fabric.exchanged"] = exchanged_;
    found.reasons.push_back("measured with the plugs of " + exchanged_ + " exchanged");
    return found;
  }

 private:
  /// Once bandwidth is measured: of flows across leaves that are slow without a known cause. With
  /// ib_read_bw data goes the other way; where routing is adaptive or by a hash a flow has no
  /// uplink of its own, and Ethernet has no counters that perfquery reads.
  std::vector<std::optional<MemberJob>> next_traces() {
    traces_now_ = false;
    if (!screen_.next_flows().empty() || !can_trace(perftest_, routing())) return {};
    if (!traces_) traces_.emplace(screen_, names_, nodes_, perftest_);
    auto jobs = traces_->next();
    traces_now_ = !jobs.empty();
    return jobs;
  }

  Routing routing() const { return screen_.topology().wiring().routing; }

  /// What cannot be read is no reading, and blames no link.
  std::vector<std::optional<Output>> reports_of(std::span<const std::optional<Output>> printed) {
    std::vector<std::optional<Output>> reports(printed.size());
    for (std::size_t i = 0; i < printed.size(); ++i) {
      if (!printed[i]) continue;
      auto report = fabric::pair_report(*printed[i]);
      if (report)
        reports[i] = *std::move(report);
      else if (unmeasured_.first.empty())
        unmeasured_.first = names_.nodes[i] + ": " + report.error().what;
    }
    return reports;
  }

  /// Node by node, in their order: of thousands of nodes none looks through the flows of all.
  std::vector<std::vector<Flow>> flows_of_nodes(std::span<const Flow> flows) const {
    std::vector<std::vector<Flow>> of_node(nodes_.size());
    for (const auto& flow : flows) {
      of_node[static_cast<std::size_t>(flow.from)].push_back(flow);
      if (flow.to != flow.from) of_node[static_cast<std::size_t>(flow.to)].push_back(flow);
    }
    return of_node;
  }

  /// From host memory to host memory: what the link and its HCAs take alone.
  Perftest latency_test() const {
    auto made = perftest_;
    made.program = "ib_send_lat";
    made.duration = seconds{0};
    made.latency = true;
    made.gpu_memory = false;
    made.queue_pairs = 1;
    return made;
  }

  void take_times(std::span<const std::optional<Output>> outputs) {
    std::vector<double> readings;
    for (const auto& flow : latency_->next_flows()) {
      const auto& sender = outputs[static_cast<std::size_t>(flow.from)];
      const auto reading = sender ? fabric::latency_of(*sender, flow.rail) : std::nullopt;
      readings.push_back(reading.value_or(std::nan("")));
    }
    latency_->take(readings);
  }

  void add_memory(GroupFindings& found) const {
    std::vector<std::string> without;
    for (std::size_t i = 0; i < memory_.size(); ++i) {
      if (memory_[i].empty()) continue;
      found.members[i].facts["fabric.memory"] = memory_[i];
      if (fabric::is_no_memory(memory_[i])) without.push_back(names_.nodes[i]);
    }
    if (!without.empty())
      found.reasons.push_back(fmt::format(
          "memory: gpu was asked for, and cannot be had on {}: nothing was measured there",
          inventory::fold(without)));
  }

  /// Between nodes that both did their part a flow without a number carried nothing, unless
  /// perftest itself did not come so far.
  double read(const Flow& flow, std::span<const std::optional<Output>> outputs) {
    const auto &sender = outputs[static_cast<std::size_t>(flow.from)],
               &receiver = outputs[static_cast<std::size_t>(flow.to)];
    if (!sender || !receiver) return std::nan("");
    if (const auto reading = fabric::reading_of(*sender, flow.rail)) return *reading;
    const auto error = fabric::tool_error(*sender, *receiver, flow.rail);
    if (!error) return 0;
    const auto at = static_cast<std::size_t>(error->of_receiver ? flow.to : flow.from);
    const auto line = names_.nodes[at] + ": " + error->line;
    unmeasured_.why.try_emplace({flow.from, flow.rail, 0}, line);
    unmeasured_.why.try_emplace({flow.to, flow.rail, 1}, line);
    if (unmeasured_.first.empty()) unmeasured_.first = line;
    return std::nan("");
  }

  /// Of a node that has one partner in a round: what its HCA counts is this flow's.
  void count_retransmits(const Flow& flow, std::span<const std::optional<Output>> outputs) {
    const auto& sender = outputs[static_cast<std::size_t>(flow.from)];
    if (!sender || !fabric::reading_of(*sender, flow.rail)) return;
    const auto& hca =
        nodes_[static_cast<std::size_t>(flow.from)].hcas[static_cast<std::size_t>(flow.rail)];
    if (const auto packets = fabric::retransmits_of(*sender, hca))
      retransmits_.take(flow, *packets);
  }

  std::string exchanged_;
  std::string stale_;  // why the forwarding tables are not used
  fabric::Names names_;
  Perftest perftest_;
  std::vector<fabric::PairNode> nodes_;
  fabric::PairScreen screen_;
  fabric::PairRetransmits retransmits_;
  std::vector<bool> left_;
  fabric::Unmeasured unmeasured_{};
  std::vector<std::string> memory_{};  // of each node: where its data lay
  std::optional<fabric::PairTraces> traces_{};
  bool traces_now_ = false;  // this round traces flows
  std::optional<fabric::PairLatency> latency_{};
  bool times_ = false;  // this round measures latency
};

Result<std::unique_ptr<GroupRounds>> rounds(const RoundsRequest& request) {
  TRY(auto perftest, perftest_of(request.parameters, request.nccl));
  TRY(const auto routing, routing_of(request.parameters));
  TRY(const auto latency, word_parameter(kPairParameters, request.parameters, "latency"));
  TRY(const auto planned_fabric, cabled_fabric(request, routing));
  if (const int planes = inventory::plane_count(planned_fabric); planes > 1)
    return Error{Code::kInvalid,
                 fmt::format("the cable plan has {} planes, and fabric-pairs measures port 1 of "
                             "each HCA alone: leave the stage out, and measure with fabric-nccl",
                             planes)};
  std::vector<std::string> names;
  for (const auto& member : request.members) names.push_back(member.node);
  TRY(auto planned, fabric::wiring_of(planned_fabric, names, routing, request.forwarding));
  const auto rails = static_cast<std::size_t>(planned.wiring.rails);
  if (rails > kMostRails)
    return Error{Code::kInvalid, fmt::format("{} rails; at most {}", rails, kMostRails)};
  std::vector<fabric::PairNode> nodes;
  for (std::size_t i = 0; i < names.size(); ++i) {
    const auto begin = planned.names.hcas.begin() + static_cast<std::ptrdiff_t>(i * rails);
    nodes.push_back(
        {request.members[i].address, {begin, begin + static_cast<std::ptrdiff_t>(rails)}});
  }
  return std::make_unique<PairRounds>(std::move(planned), std::move(perftest), std::move(nodes),
                                      floor_of(request.profile), exchange_in(request.parameters),
                                      latency == "yes");
}

Result<Job> prepare_pairs(const inventory::Profile&, const Parameters& parameters) {
  TRY(const auto perftest, perftest_of(parameters, nullptr));
  TRY(const auto routing, routing_of(parameters));
  TRY(const auto latency, word_parameter(kPairParameters, parameters, "latency"));
  TRY(number_between(parameters, "group", 1, kMostGroup));
  if (text_parameter(kPairParameters, parameters, "hcas") != "plan") {
    TRY(hcas_of(parameters));
  }
  const auto round = perftest.duration + kOfARound;
  const int times = latency == "yes" ? kMostLatencyRounds : 0;
  const bool traces = can_trace(perftest, routing);
  auto most = kMostReadings * round + (kMostTimeouts + times) * fabric::pair_limit(perftest);
  if (traces)
    most += static_cast<int>(fabric::kMostLooks) * fabric::kMostOfALook +
            fabric::kMostTraceRounds * (round + fabric::kMostOfCounters);
  AgentOrder order{.stage = fabric::kPairStage,
                   .order = fabric::switches_order(std::vector<std::string>{"mlx5_0"}),
                   .tools = {perftest.program}};
  if (traces) order.helpful = {"ibnetdiscover", "perfquery"};
  return agent_job(std::move(order), kUsualReadings * round + times * kOfARound, most);
}

Result<Findings> parse_pairs(const inventory::Profile&, const Output& output) {
  TRY(script::check_gave_up(output));
  return Error{Code::kNoMeasurement, "it takes two nodes or more: group_by: all"};
}

bool measures_the_plan(const Parameters& parameters) {
  return text_parameter(kPairParameters, parameters, "hcas") == "plan";
}

constexpr GroupStage kPairGroup{
    .least = 2, .most = 4096, .rounds = rounds, .needs_plan = measures_the_plan};

}  // namespace

Stage fabric_pairs() {
  Stage row{fabric::kPairStage,
            "bandwidth between pairs of nodes on all rails, and which part of the fabric is slow "
            "(perftest)",
            kPairParameters,
            prepare_pairs,
            parse_pairs,
            kPairMeasures,
            {0.1, 0.2, "HCAs move data, GPUs rest"},
            kPrograms};
  row.group = &kPairGroup;
  return row;
}

}  // namespace cupel::burnin
