#include "burnin/fabric/pair_jobs.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <set>

#include "base/text.h"
#include "burnin/fabric/discovery/rdma_counters.h"
#include "burnin/script.h"
#include "burnin/tools/perftest.h"

namespace cupel::burnin::fabric {
namespace {

using std::chrono::seconds;

constexpr int kTries = 60;  // a second apart: as long as nodes may begin after each other
constexpr seconds kStart{20};
constexpr seconds kEnd{10};  // beyond the last program: to print what they said

std::string options(const Perftest& perftest, const PairNode& node, int rail) {
  auto words = fmt::format("-d {} -p {}", shell_quoted(node.hcas[static_cast<std::size_t>(rail)]),
                           perftest.port + rail);
  words += perftest.latency
               ? std::string{" -n 2000 -s 2 -F"}
               : fmt::format(" -D {} -s 1048576 -F --report_gbits", perftest.duration.count());
  if (perftest.queue_pairs > 1) words += fmt::format(" -q {}", perftest.queue_pairs);
  if (perftest.gid) words += fmt::format(" -x {}", *perftest.gid);
  if (perftest.tclass) words += fmt::format(" --tclass={}", *perftest.tclass);
  if (perftest.gpu_memory) words += fmt::format(" $gpu{}", rail);
  return words;
}

constexpr std::string_view kMemory = "cupel-memory: ";
/// In place of what perftest would print: it could register no memory of a GPU.
constexpr std::string_view kNoGpuMemory =
    "No GPU memory: nvidia-peermem is not loaded, perftest has no --use_cuda_dmabuf. Load the "
    "module (modprobe nvidia-peermem), or build perftest with dma-buf";
constexpr std::string_view kNoCuda =
    "No GPU memory: perftest is built without CUDA (its --help lists no --use_cuda). Install one "
    "that is built with it, or measure with memory: host";

/// What perftest of this node was built with, and what its kernel has. The options are those that
/// its help lists. Source: linux-rdma/perftest, src/perftest_parameters.c, usage().
std::string gpu_memory(const Perftest& perftest, const std::set<int>& rails) {
  auto text = fmt::format(
      "help=$({} --help 2>&1)\n"
      "memory=no-cuda\n"
      "case $help in *use_cuda=*) memory=peermem ;; esac\n"
      "if [ $memory = peermem ] && [ ! -d /sys/module/nvidia_peermem ] &&\n"
      "  [ ! -d /sys/module/nv_peer_mem ]; then\n"
      "  case $help in *use_cuda_dmabuf*) memory=dmabuf ;; *) memory=none ;; esac\n"
      "fi\n"
      "echo \"{}$memory\"\n",
      perftest.program, kMemory);
  for (const int rail : rails)
    text += fmt::format(
        "case $memory in\n"
        "  peermem) gpu{0}=--use_cuda={0} ;;\n"
        "  dmabuf) gpu{0}='--use_cuda={0} --use_cuda_dmabuf' ;;\n"
        "  *) gpu{0}= ;;\n"
        "esac\n",
        rail);
  return text;
}

/// Where GPU memory is asked for and cannot be had, nothing runs: the host's would answer another
/// question. Each program's output says why instead.
std::string unless_without_memory(const std::string& programs, std::string_view outputs) {
  return fmt::format(
      "why=\n"
      "case $memory in\n"
      "  none) why={} ;;\n"
      "  no-cuda) why={} ;;\n"
      "esac\n"
      "if [ -n \"$why\" ]; then\n"
      "  for name in{}; do\n"
      "    printf '%s\\n' \"$why\" >\"$folder/$name\"\n"
      "  done\n"
      "else\n{}wait\nfi\n",
      shell_quoted(kNoGpuMemory), shell_quoted(kNoCuda), outputs, programs);
}

/// In a folder of its own, and away with it.
std::string begin(const Perftest& perftest) {
  // Without it bandwidth is measured all the same: the node stays.
  const auto needed =
      perftest.latency ? fmt::format("command -v {} >/dev/null 2>&1 || exit 0\n", perftest.program)
                       : script::needs(perftest.program);
  return script::head() + needed +
         "folder=$(mktemp -d) || exit 1\n"
         "trap 'rm -rf \"$folder\"' EXIT\n";
}

/// As long as a client may try, and measure then.
seconds server_limit(const Perftest& perftest) {
  return seconds{kTries} + perftest.duration + kStart;
}

std::string server(const Perftest& perftest, const PairNode& node, int rail) {
  return fmt::format("timeout {} {} {} >\"$folder/server{}\" 2>&1 &\n",
                     server_limit(perftest).count(), perftest.program,
                     options(perftest, node, rail), rail);
}

std::string client(const Perftest& perftest, const PairNode& from, const PairNode& to, int rail) {
  return fmt::format(
      "(\n"
      "  tries=0\n"
      "  while [ $tries -lt {0} ]; do\n"
      "    timeout {1} {2} {3} {4} >\"$folder/client{5}\" 2>&1\n"
      "    status=$?\n"
      "    grep -q \"Couldn't connect\" \"$folder/client{5}\" || break\n"
      "    tries=$((tries + 1))\n"
      "    sleep 1\n"
      "  done\n"
      // A firewall that drops packets: the two programs never met.
      "  [ $status -ne 124 ] || grep -q 'local address' \"$folder/client{5}\" ||\n"
      "    printf \"Couldn't connect to %s in {1} s: no answer\\n\" {4} >>\"$folder/client{5}\"\n"
      ") &\n",
      kTries, (perftest.duration + kStart).count(), perftest.program, options(perftest, from, rail),
      shell_quoted(to.address), rail);
}

constexpr std::array<std::string_view, 3> kRetransmits{"packet_seq_err", "local_ack_timeout_err",
                                                       "implied_nak_seq_err"};
constexpr std::string_view kBefore = "counted-before", kAfter = "counted-after";

/// What the driver has counted of packets that were sent again.
std::string counted(std::string_view section, const PairNode& node, const std::set<int>& rails) {
  auto text = fmt::format("echo 'cupel-begin: {}'\nfor hca in", section);
  for (const int rail : rails)
    text += " " + shell_quoted(node.hcas[static_cast<std::size_t>(rail)]);
  text += fmt::format(
      "; do\n"
      "  for counter in {}; do\n"
      "    grep -sH . \"/sys/class/infiniband/$hca/ports/1/hw_counters/$counter\"\n"
      "  done\n"
      "done\n"
      "echo cupel-end\n",
      fmt::join(kRetransmits, " "));
  return text;
}

/// "cupel-begin: rail3": the last lines of a program's output.
std::string printed(std::string_view section, std::string_view file, int rail) {
  return fmt::format(
      "echo 'cupel-begin: {0}{2}'\ntail -n 100 \"$folder/{1}{2}\"\necho\necho cupel-end\n", section,
      file, rail);
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
  constexpr std::array<std::string_view, 12> kErrors{
      "No GPU memory:", "Couldn't connect", "Couldn't listen",        "Couldn't allocate",
      "Couldn't init",  "Couldn't create",  "Address already in use", "that support CUDA",
      " error=",        ") returned ",      "No such device ID (",    "unrecognized option"};
  for (const auto line : lines(text))
    for (const auto words : kErrors)
      if (line.contains(words)) return script::clean(line);
  return std::nullopt;
}

}  // namespace

seconds pair_limit(const Perftest& perftest) { return server_limit(perftest) + kEnd; }

std::string pair_script(const Perftest& perftest, std::span<const PairNode> nodes, int node,
                        std::span<const Flow> flows, const Around& around) {
  const auto at = [&](int number) -> const PairNode& {
    return nodes[static_cast<std::size_t>(number)];
  };
  std::string servers, clients, results, outputs;
  std::set<int> rails;
  for (const auto& flow : flows) {
    if (flow.to == node || flow.from == node) rails.insert(flow.rail);
    if (flow.to == node) {
      servers += server(perftest, at(node), flow.rail);
      results += printed("server", "server", flow.rail);
      outputs += fmt::format(" server{}", flow.rail);
    }
    if (flow.from != node) continue;
    clients += client(perftest, at(node), at(flow.to), flow.rail);
    results += printed("rail", "client", flow.rail);
    outputs += fmt::format(" client{}", flow.rail);
  }
  if (servers.empty() && clients.empty()) return {};
  auto programs = servers + clients;
  programs = perftest.gpu_memory
                 ? gpu_memory(perftest, rails) + unless_without_memory(programs, outputs)
                 : programs + "wait\n";
  // Small messages are too few to lose one of.
  if (perftest.latency) return begin(perftest) + programs + results;
  return begin(perftest) + counted(kBefore, at(node), rails) + around.before + programs +
         around.after + counted(kAfter, at(node), rails) + results;
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
  const auto said = script::said(output, kMemory);
  if (said == "peermem") return "gpu, by nvidia-peermem";
  if (said == "dmabuf") return "gpu, by dma-buf";
  if (said == "none")
    return "none: perftest is built with CUDA, and the node has neither "
           "nvidia-peermem nor dma-buf";
  return said == "no-cuda" ? "none: perftest of the node is built without CUDA" : "";
}

bool is_no_memory(std::string_view said) { return said.starts_with("none"); }

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
