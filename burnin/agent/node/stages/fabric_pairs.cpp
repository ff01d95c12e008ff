// One node's part in a round of flows between nodes, by perftest: a server for each flow that comes
// and a client for each that goes, all at once. Nodes begin after each other, so that a client
// tries until the other node's server listens; a server waits as long as a client may try. Also
// what shows which uplink a flow takes: port counters of its leaves before and after, and a list of
// switches. Source: linux-rdma/perftest, src/perftest_parameters.c; infiniband-diags,
// ibnetdiscover(8), perfquery(8).
#include <algorithm>
#include <array>
#include <map>
#include <set>

#include "base/text.h"
#include "burnin/agent/node/stages/file_lines.h"
#include "burnin/agent/node/stages/order.h"

namespace cupel::agent {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

constexpr std::array<std::string_view, 3> kPerftests{"ib_write_bw", "ib_read_bw", "ib_send_lat"};
constexpr std::uint64_t kMostRails = 64, kLeastPort = 1024, kMostPort = 65535;
constexpr std::uint64_t kMostPairSeconds = 600, kMostPairTries = 600, kMostQueuePairs = 256;
constexpr std::uint64_t kMostOfRoce = 255, kLastUnicastLid = 0xbfff, kMostSwitchPort = 254;
constexpr std::size_t kMostQueries = 1024, kPortsOfAQuery = 64, kMostIslands = 64;
constexpr std::size_t kMostTableLines = 100, kMostOfPerftest = 1u << 18;
constexpr milliseconds kBetweenTries{1000}, kLongestPairWait{3'600'000};
constexpr seconds kOneLook{30}, kOneQuery{5};
constexpr int kCannotRun = 126, kNoProgram = 127;

struct PairsOrder {
  std::string program{};
  bool latency = false;  // of 2000 small messages, in place of a time
  bool gpu = false;      // memory of GPU k on rail k, and of nothing else
  std::uint64_t seconds = 0, queue_pairs = 1, tries = 1, client_limit = 1, server_limit = 1;
  std::optional<std::uint64_t> gid{}, traffic_class{};
};

/// A server or, with a peer, a client.
struct PairFlow {
  std::string rail{}, hca{}, port{}, peer{};
  Command command{};
  Ran ran{};
  std::uint64_t tries = 0;
  std::optional<milliseconds> again{};  // when it is started next

  std::string name() const { return (peer.empty() ? "server" : "rail") + rail; }
};

/// Counters of a switch's ports: "4,5,6".
struct PortQuery {
  std::string rail{}, hca{}, lid{}, ports{};
};

PairsOrder pairs_order_in(OrderReader& read) {
  PairsOrder order;
  order.program = read.word("program", kPerftests);
  order.latency = read.flag("latency");
  order.gpu = read.flag("gpu");
  order.seconds = read.amount("seconds", order.latency ? 0 : 1, kMostPairSeconds);
  order.queue_pairs = read.amount("qps", 1, kMostQueuePairs);
  order.tries = read.amount("tries", 1, kMostPairTries);
  order.client_limit = read.amount("client-limit", 1, kLongestLimit);
  order.server_limit = read.amount("server-limit", 1, kLongestLimit);
  order.gid = read.amount_if_any("gid", 0, kMostOfRoce);
  order.traffic_class = read.amount_if_any("tclass", 0, kMostOfRoce);
  return order;
}

void add_flows(OrderReader& read, std::string_view key, std::vector<PairFlow>& flows) {
  for (const auto& each : read.list(key, kMostRails)) {
    OrderReader one{each};
    PairFlow flow{.rail = std::to_string(one.amount("rail", 0, kMostRails - 1)),
                  .hca = one.name("hca"),
                  .port = std::to_string(one.amount("port", kLeastPort, kMostPort)),
                  .peer = key == "clients" ? one.host("to") : ""};
    read.also(one);
    flows.push_back(std::move(flow));
  }
}

std::string ports_in(OrderReader& read) {
  std::string text;
  for (const auto& each : read.list("ports", kPortsOfAQuery)) {
    const auto port = each.count();
    if (!port || *port == 0 || *port > kMostSwitchPort) read.refuse("port of a switch there");
    text += (text.empty() ? "" : ",") + std::to_string(port.value_or(0));
  }
  if (text.empty()) read.refuse("ports to read");
  return text;
}

std::vector<PortQuery> queries_in(OrderReader& read) {
  std::vector<PortQuery> queries;
  for (const auto& each : read.list("queries", kMostQueries)) {
    OrderReader one{each};
    queries.push_back({std::to_string(one.amount("rail", 0, kMostRails - 1)), one.name("hca"),
                       std::to_string(one.amount("lid", 1, kLastUnicastLid)), ports_in(one)});
    read.also(one);
  }
  return queries;
}

/// The table stands at the end.
void keep_table(std::string& out) {
  auto at = out.empty() ? out.npos : out.size() - 1;
  for (std::size_t i = 0; i < kMostTableLines && at != out.npos && at > 0; ++i)
    at = out.rfind('\n', at - 1);
  if (at != out.npos && at > 0) out.erase(0, at + 1);
}

/// A fabric of thousands of HCAs fills megabytes.
void keep_switches(std::string& out) {
  std::string kept;
  const auto end = out.rfind('\n') + 1;  // what follows may still be under way
  for (const auto line : lines(std::string_view{out}.substr(0, end)))
    if (line.starts_with("Switch")) kept.append(line).push_back('\n');
  out = kept.append(out, end);
}

/// Its help lists the options that it was built with. Where that hangs the job ends at its own
/// limit: nothing is known then.
Work<Ran> read_help(Node& node, const std::string& program) {
  const Command ask{.argv = {program, "--help"}, .limit = seconds{kLongestLimit}};
  auto ran = co_await node.programs.run(ask);
  node.lines.evidence("help", "", ask, ran);
  co_return ran;
}

/// How HCAs reach memory of a GPU on this node: "peermem", "dmabuf"; or why they do not: "none",
/// and "no-cuda" of a perftest that is built without it.
std::string_view gpu_memory_of(const Node& node, const Ran& help) {
  const auto text = help.out + help.err;
  if (!text.contains("use_cuda=")) return "no-cuda";
  if (node.tree.exists("/sys/module/nvidia_peermem") || node.tree.exists("/sys/module/nv_peer_mem"))
    return "peermem";
  return text.contains("use_cuda_dmabuf") ? "dmabuf" : "none";
}

/// Empty where it could be started. It says nothing of what lies between the nodes.
GaveUp why_not_started(const PairsOrder& order, const Ran& ran) {
  if (ran.status != kCannotRun && ran.status != kNoProgram) return {};
  return order.program + " cannot be started: " + shortened(printable(ran.err), 200);
}

/// Why nothing is run: the host's memory would answer another question. Empty where it is.
std::string_view why_no_memory(std::string_view memory) {
  if (memory == "none")
    return "No GPU memory: nvidia-peermem is not loaded, perftest has no --use_cuda_dmabuf. Load "
           "the module (modprobe nvidia-peermem), or build perftest with dma-buf";
  if (memory == "no-cuda")
    return "No GPU memory: perftest is built without CUDA (its --help lists no --use_cuda). "
           "Install one that is built with it, or measure with memory: host";
  return {};
}

Command perftest_command(const PairsOrder& order, const PairFlow& flow, std::string_view memory) {
  const bool serves = flow.peer.empty();
  Command command{.argv = {order.program, "-d", flow.hca, "-p", flow.port},
                  .limit = seconds{serves ? order.server_limit : order.client_limit},
                  .most = kMostOfPerftest,
                  .shorten = keep_table};
  const auto add = [&](const std::vector<std::string>& words) {
    command.argv.insert(command.argv.end(), words.begin(), words.end());
  };
  if (order.latency)
    add({"-n", "2000", "-s", "2", "-F"});
  else
    add({"-D", std::to_string(order.seconds), "-s", "1048576", "-F", "--report_gbits"});
  if (order.queue_pairs > 1) add({"-q", std::to_string(order.queue_pairs)});
  if (order.gid) add({"-x", std::to_string(*order.gid)});
  if (order.traffic_class) add({"--tclass=" + std::to_string(*order.traffic_class)});
  if (!memory.empty()) add({"--use_cuda=" + flow.rail});
  if (memory == "dmabuf") add({"--use_cuda_dmabuf"});
  if (!serves) add({flow.peer});
  return command;
}

/// Packets that each HCA sent again. Source: NVIDIA, "Understanding mlx5 Linux Counters and Status
/// Parameters".
void print_counted(Node& node, std::string_view name, const std::vector<PairFlow>& flows) {
  std::set<std::string> hcas;
  for (const auto& each : flows) hcas.insert(each.hca);
  FileLines counted{node.tree};
  for (const auto& hca : hcas)
    for (const auto* counter : {"packet_seq_err", "local_ack_timeout_err", "implied_nak_seq_err"})
      counted.add("/sys/class/infiniband/" + hca + "/ports/1/hw_counters/" + counter);
  counted.print(node.lines, name);
}

Work<bool> read_ports(Node& node, std::string_view when, const std::vector<PortQuery>& queries) {
  for (const auto& each : queries) {
    const Command command{
        .argv = {"perfquery", "-x", "-l", "-C", each.hca, "-P", "1", each.lid, each.ports},
        .limit = kOneQuery};
    const auto ran = co_await node.programs.run(command);
    node.lines.evidence("ports-" + std::string{when} + each.rail, each.hca, command, ran);
  }
  co_return true;
}

/// The server of the other node does not listen yet.
bool tries_again(const PairsOrder& order, const PairFlow& flow) {
  constexpr std::string_view kNobody = "Couldn't connect";
  const bool met_nobody = flow.ran.out.contains(kNobody) || flow.ran.err.contains(kNobody);
  return !flow.peer.empty() && met_nobody && flow.tries < order.tries;
}

/// Starts those whose time has come; the next time at which one is to be started, where there is
/// one.
std::optional<milliseconds> start_due(Node& node, std::vector<PairFlow>& flows,
                                      std::map<int, PairFlow*>& running) {
  std::optional<milliseconds> next;
  for (auto& flow : flows) {
    if (!flow.again) continue;
    if (*flow.again > node.clock.now()) {
      next = std::min(next.value_or(*flow.again), *flow.again);
      continue;
    }
    flow.again.reset();
    ++flow.tries;
    running[node.programs.start(flow.command)] = &flow;
  }
  return next;
}

/// All of them to their end.
Work<bool> run_flows(Node& node, const PairsOrder& order, std::vector<PairFlow>& flows) {
  for (auto& flow : flows) flow.again = node.clock.now();
  std::map<int, PairFlow*> running;
  while (true) {
    const auto next = start_due(node, flows, running);
    if (running.empty() && !next) co_return true;
    const auto span = next ? std::max(*next - node.clock.now(), milliseconds{0}) : kLongestPairWait;
    auto ended = co_await node.programs.first_end(span);
    if (!ended) continue;
    auto& flow = *running.extract(ended->number).mapped();
    flow.ran = std::move(ended->ran);
    if (tries_again(order, flow))
      flow.again = node.clock.now() + node.clock.until_next_look(kBetweenTries);
  }
}

/// A firewall that drops packets: the two programs never met.
bool got_no_answer(const PairFlow& flow) {
  // Of many queue pairs the end of the table alone is kept, which may have only the second kind.
  const auto text = flow.ran.out + flow.ran.err;
  return !flow.peer.empty() && flow.ran.late && !text.contains("local address") &&
         !text.contains("remote address");
}

/// Why one of them could not be started; empty where all were.
GaveUp print_flows(Node& node, const PairsOrder& order, const std::vector<PairFlow>& flows) {
  GaveUp why;
  for (const auto& flow : flows) {
    node.lines.evidence(flow.name(), flow.hca, flow.command, flow.ran);
    if (got_no_answer(flow))
      node.lines.note(flow.name(), "Couldn't connect to " + flow.peer + " in " +
                                       std::to_string(order.client_limit) + " s: no answer");
    if (why.empty()) why = why_not_started(order, flow.ran);
  }
  return why;
}

Work<GaveUp> measure_flows(Node& node, const PairsOrder& order, std::vector<PairFlow> flows) {
  std::string_view memory;
  if (order.gpu) {
    const auto help = co_await read_help(node, order.program);
    auto why = why_not_started(order, help);
    if (!why.empty()) co_return why;
    memory = gpu_memory_of(node, help);
    node.lines.note("memory", memory);
  }
  if (const auto why = why_no_memory(memory); !why.empty()) {
    for (const auto& flow : flows) node.lines.note(flow.name(), why);
    co_return {};
  }
  for (auto& flow : flows) flow.command = perftest_command(order, flow, memory);
  co_await run_flows(node, order, flows);
  co_return print_flows(node, order, flows);
}

/// From each of these HCAs: they are of fabrics that no switch connects.
Work<GaveUp> look_for_switches(Node& node, const JsonValue& asked) {
  OrderReader read{asked};
  std::vector<std::string> hcas;
  for (const auto& each : read.list("look", kMostIslands)) {
    const auto* hca = each.text();
    if (hca == nullptr || !is_device_name(*hca)) read.refuse("HCA's name to look from");
    hcas.push_back(hca == nullptr ? "" : *hca);
  }
  if (!read.why().empty()) co_return read.why();
  for (const auto* tool : {"ibnetdiscover", "perfquery"})
    if (!node.programs.has(tool)) node.lines.note("missing", tool);
  if (!node.programs.has("ibnetdiscover")) co_return {};
  for (const auto& hca : hcas) {
    const Command command{.argv = {"ibnetdiscover", "-C", hca, "-P", "1"},
                          .limit = kOneLook,
                          .shorten = keep_switches};
    const auto ran = co_await node.programs.run(command);
    node.lines.evidence("switches", hca, command, ran);
  }
  co_return {};
}

}  // namespace

Work<GaveUp> run_fabric_pairs(Node& node, const JsonValue& asked) {
  if (asked.find("look") != nullptr) co_return co_await look_for_switches(node, asked);
  OrderReader read{asked};
  const auto order = pairs_order_in(read);
  std::vector<PairFlow> flows;
  add_flows(read, "servers", flows);
  add_flows(read, "clients", flows);
  const auto queries = queries_in(read);
  if (!read.why().empty()) co_return read.why();
  if (!node.programs.has(order.program)) {
    // Without it bandwidth is measured all the same: the node stays.
    if (order.latency) co_return {};
    co_return order.program + " is not installed on the node";
  }
  // Small messages are too few to lose one of.
  if (!order.latency) print_counted(node, "counted-before", flows);
  co_await read_ports(node, "before", queries);
  const auto why = co_await measure_flows(node, order, flows);
  co_await read_ports(node, "after", queries);
  if (!order.latency) print_counted(node, "counted-after", flows);
  co_return why;
}

}  // namespace cupel::agent
