#include "burnin/fabric/pair_jobs.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <set>

#include "base/text.h"
#include "burnin/agent_stage.h"
#include "burnin/fabric/discovery/rdma_counters.h"
#include "burnin/script.h"
#include "burnin/tools/perftest.h"

namespace cupel::burnin::fabric {
namespace {

using std::chrono::seconds;

constexpr int kTries = 60;  // a second apart: as long as nodes may begin after each other
constexpr seconds kStart{20};
constexpr seconds kEnd{10};  // beyond the last program: to print what they reported

constexpr std::string_view kMemory = "memory", kMissing = "missing";

/// As long as a client may try, and measure then.
seconds server_limit(const Perftest& perftest) {
  return seconds{kTries} + perftest.duration + kStart;
}

constexpr std::string_view kBefore = "counted-before", kAfter = "counted-after";

json::object program_of(const Perftest& perftest, const PairNode& node, int rail) {
  return {{"rail", rail},
          {"hca", node.hcas[static_cast<std::size_t>(rail)]},
          {"port", perftest.port + rail}};
}

json::array queries_of(std::span<const CounterQuery> queries) {
  json::array all;
  for (const auto& each : queries) {
    json::array ports;
    for (const int port : each.ports) ports.emplace_back(port);
    all.push_back(json::object{
        {"rail", each.rail}, {"hca", each.hca}, {"lid", each.lid}, {"ports", std::move(ports)}});
  }
  return all;
}

/// What all programs of a node have in common.
json::object options_of(const Perftest& perftest) {
  json::object order{{"program", perftest.program},
                     {"latency", perftest.latency},
                     {"gpu", perftest.gpu_memory},
                     {"seconds", perftest.duration.count()},
                     {"qps", perftest.queue_pairs},
                     {"tries", kTries},
                     {"client-limit", (perftest.duration + kStart).count()},
                     {"server-limit", server_limit(perftest).count()}};
  if (perftest.gid) order["gid"] = *perftest.gid;
  if (perftest.tclass) order["tclass"] = *perftest.tclass;
  return order;
}

std::string_view section_of(const Output& output, std::string_view name) {
  for (const auto& section : script::sections(output.text))
    if (section.name == name && section.whole) return section.text;
  return {};
}

std::string_view section_of(const Output& output, std::string_view kind, int rail) {
  return section_of(output, fmt::format("{}{}", kind, rail));
}

/// The flow was tried, or its HCA is not there to try it with.
bool carried_nothing(std::string_view text) {
  return std::ranges::any_of(
      std::array{"state is Down", "Failed status", "IB device", "Did not detect devices"},
      [&](const char* words) { return text.contains(words); });
}

std::optional<std::string> error_line(std::string_view text) {
  constexpr std::array<std::string_view, 13> kErrors{
      "No GPU memory:",   "Couldn't connect", "Couldn't listen",        "Couldn't allocate",
      "Couldn't init",    "Couldn't create",  "Address already in use", "that support CUDA",
      " error=",          ") returned ",      "No such device ID (",    "unrecognized option",
      "Couldn't keep all"};
  for (const auto line : lines(text))
    for (const auto words : kErrors)
      if (line.contains(words)) return script::clean(line);
  return std::nullopt;
}

}  // namespace

seconds pair_limit(const Perftest& perftest) { return server_limit(perftest) + kEnd; }

json::object pair_order(const Perftest& perftest, std::span<const PairNode> nodes, int node,
                        std::span<const Flow> flows, std::span<const CounterQuery> queries) {
  const auto& own = nodes[static_cast<std::size_t>(node)];
  json::array servers, clients;
  for (const auto& flow : flows) {
    if (flow.to == node) servers.push_back(program_of(perftest, own, flow.rail));
    if (flow.from != node) continue;
    auto client = program_of(perftest, own, flow.rail);
    client["to"] = nodes[static_cast<std::size_t>(flow.to)].address;
    clients.push_back(std::move(client));
  }
  if (servers.empty() && clients.empty()) return {};
  auto order = options_of(perftest);
  order["servers"] = std::move(servers);
  order["clients"] = std::move(clients);
  if (!queries.empty()) order["queries"] = queries_of(queries);
  return order;
}

json::object switches_order(std::span<const std::string> hcas) {
  json::array look;
  for (const auto& hca : hcas) look.emplace_back(hca);
  return {{"look", std::move(look)}};
}

std::string pair_script(json::object order) {
  return agent_job({.stage = kPairStage, .order = std::move(order)}, {}, {}).script;
}

Result<Output> pair_report(const Output& output) {
  TRY(const auto read, read_agent_output(kPairStage, output, {}));
  if (!read) return output;
  std::map<std::string, std::string, std::less<>> sections;
  for (const auto& tool : read->tools) {
    sections[tool.name] += printed_by(tool).text;
    if (tool.cut) sections[tool.name] += "\nCouldn't keep all that it printed";
  }
  // Of a client that got no answer, and of programs that were not run.
  Output report;
  report.exit_status = output.exit_status;
  for (const auto& [name, note] : read->notes)
    if (name == kMemory || name == kMissing)
      report.text += fmt::format("cupel-{}: {}\n", name, note);
    else
      sections[name] += "\n" + note;
  for (const auto& [name, text] : sections)
    report.text += fmt::format("cupel-begin: {}\n{}\ncupel-end\n", name, text);
  return report;
}

std::optional<double> reading_of(const Output& output, int rail) {
  const auto rows = read_perftest(section_of(output, "rail", rail));
  return rows ? rows->back().average : std::nullopt;
}

std::optional<double> latency_of(const Output& output, int rail) {
  const auto rows = read_perftest(section_of(output, "rail", rail));
  return rows ? rows->back().typical : std::nullopt;
}

std::optional<std::uint64_t> retransmits_of(const Output& output, std::string_view hca) {
  const auto before = parse_rdma_counters(section_of(output, kBefore)),
             after = parse_rdma_counters(section_of(output, kAfter));
  if (!before || !after) return std::nullopt;
  const std::pair port{std::string{hca}, 1};
  const auto first = before->find(port), later = after->find(port);
  if (first == before->end() || later == after->end()) return std::nullopt;
  std::uint64_t packets = 0;
  for (const auto& [counter, value] : later->second) {
    const auto at = first->second.find(counter);
    if (at == first->second.end() || at->second > value) return std::nullopt;
    packets += value - at->second;
  }
  return packets;
}

std::string memory_of(const Output& output) {
  const auto memory = script::after_mark(output, "cupel-memory: ");
  if (memory == "peermem") return "gpu, by nvidia-peermem";
  if (memory == "dmabuf") return "gpu, by dma-buf";
  if (memory == "none")
    return "none: perftest is built with CUDA, and the node has neither "
           "nvidia-peermem nor dma-buf";
  return memory == "no-cuda" ? "none: perftest of the node is built without CUDA" : "";
}

bool is_no_memory(std::string_view memory) { return memory.starts_with("none"); }

std::optional<ToolError> tool_error(const Output& sender, const Output& receiver, int rail) {
  const auto client = section_of(sender, "rail", rail);
  const auto server = section_of(receiver, "server", rail);
  if (carried_nothing(client) || carried_nothing(server)) return std::nullopt;
  // Where the server gave up, the client has found none to connect to.
  if (auto line = error_line(server)) return ToolError{true, *std::move(line)};
  if (auto line = error_line(client)) return ToolError{false, *std::move(line)};
  return std::nullopt;
}

}  // namespace cupel::burnin::fabric
