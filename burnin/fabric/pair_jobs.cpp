#include "burnin/fabric/pair_jobs.h"

#include <fmt/format.h>

#include "base/text.h"
#include "burnin/script.h"
#include "burnin/tools/perftest.h"

namespace cupel::burnin::fabric {
namespace {

using std::chrono::seconds;

constexpr int kTries = 60;  // a second apart: as long as nodes may begin after each other
constexpr seconds kStart{20};

std::string options(const Perftest& perftest, const PairNode& node, int rail) {
  auto words = fmt::format("-d {} -p {} -D {} -s 1048576 -F --report_gbits",
                           shell_quoted(node.hcas[static_cast<std::size_t>(rail)]),
                           perftest.port + rail, perftest.duration.count());
  if (perftest.gpu_memory) words += fmt::format(" --use_cuda={}", rail);
  return words;
}

/// In a folder of its own, and away with it.
std::string begin(const Perftest& perftest) {
  return script::head() + script::needs(perftest.program) +
         "folder=$(mktemp -d) || exit 1\n"
         "trap 'rm -rf \"$folder\"' EXIT\n";
}

std::string server(const Perftest& perftest, const PairNode& node, int rail) {
  return fmt::format("timeout {} {} {} >\"$folder/server{}\" 2>&1 &\n",
                     pair_limit(perftest).count(), perftest.program, options(perftest, node, rail),
                     rail);
}

std::string client(const Perftest& perftest, const PairNode& from, const PairNode& to, int rail) {
  return fmt::format(
      "(\n"
      "  tries=0\n"
      "  while [ $tries -lt {0} ]; do\n"
      "    timeout {1} {2} {3} {4} >\"$folder/client{5}\" 2>&1\n"
      "    grep -q \"Couldn't connect\" \"$folder/client{5}\" || break\n"
      "    tries=$((tries + 1))\n"
      "    sleep 1\n"
      "  done\n"
      ") &\n",
      kTries, (perftest.duration + kStart).count(), perftest.program, options(perftest, from, rail),
      shell_quoted(to.address), rail);
}

}  // namespace

seconds pair_limit(const Perftest& perftest) {
  return seconds{kTries} + perftest.duration + kStart;
}

std::string pair_script(const Perftest& perftest, std::span<const PairNode> nodes, int node,
                        std::span<const Flow> flows) {
  const auto at = [&](int number) -> const PairNode& {
    return nodes[static_cast<std::size_t>(number)];
  };
  std::string servers, clients, results;
  for (const auto& flow : flows) {
    if (flow.to == node) servers += server(perftest, at(node), flow.rail);
    if (flow.from != node) continue;
    clients += client(perftest, at(node), at(flow.to), flow.rail);
    results += fmt::format(
        "echo 'cupel-begin: rail{0}'\ncat \"$folder/client{0}\"\necho\n"
        "echo cupel-end\n",
        flow.rail);
  }
  if (servers.empty() && clients.empty()) return {};
  return begin(perftest) + servers + clients + "wait\n" + results;
}

std::optional<double> reading_of(const Output& output, int rail) {
  const auto name = fmt::format("rail{}", rail);
  for (const auto& section : script::sections(output.text)) {
    if (section.name != name || !section.whole) continue;
    const auto rows = read_perftest(section.text);
    if (!rows) return std::nullopt;
    return rows->back().average;
  }
  return std::nullopt;
}

}  // namespace cupel::burnin::fabric
