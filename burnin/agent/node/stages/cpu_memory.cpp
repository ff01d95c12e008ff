// CPUs and memory under load, each result compared, by stress-ng.
#include "base/text.h"
#include "burnin/agent/node/stages/order.h"
#include "burnin/agent/node/stages/reported.h"

namespace cupel::agent {
namespace {

constexpr std::uint64_t kLongest = 7 * 86'400;  // seconds
constexpr std::uint64_t kMostPercent = 95, kLeastBytes = 1u << 20, kMostBytes = 64ull << 40;

/// How many processes the kernel has killed for memory since it booted. stress-ng starts a killed
/// worker again and calls the run a success.
void note_kills(const Node& node, std::string_view when) {
  const auto counters = node.tree.text("/proc/vmstat");
  for (const auto line : lines(counters.value_or(""))) {
    const auto cells = words(line);
    if (cells.size() == 2 && cells[0] == "oom_kill")
      return node.lines.note("oom-kills-" + std::string{when}, cells[1]);
  }
}

}  // namespace

Work<GaveUp> run_cpu_memory(Node& node, const JsonValue& order) {
  OrderReader read{order};
  const auto seconds = read.amount("seconds", 1, kLongest);
  const bool is_share = order.find("percent") != nullptr;
  const auto memory = is_share ? read.amount("percent", 1, kMostPercent)
                               : read.amount("bytes", kLeastBytes, kMostBytes);
  const auto limit = read.amount("limit", 1, kLongestLimit);
  if (!read.why().empty()) co_return read.why();
  if (!node.programs.has("stress-ng")) co_return "stress-ng is not installed on the node";
  node.lines.asked("seconds", static_cast<double>(seconds));
  note_kills(node, "before");
  const Command command{
      .argv = {"stress-ng", "--cpu", "0", "--cpu-method", "all", "--vm", "0", "--vm-bytes",
               std::to_string(memory) + (is_share ? "%" : ""), "--vm-method", "all", "--verify",
               "--metrics", "--timeout", std::to_string(seconds) + "s"},
      .limit = std::chrono::seconds{limit}};
  co_await run_reported(node, "stress-ng", command);
  note_kills(node, "after");
  co_return {};
}

}  // namespace cupel::agent
