// A collective over the node's GPUs, its results checked, by NVIDIA's nccl-tests.
#include <algorithm>

#include "base/text.h"
#include "burnin/agent/node/stages/order.h"
#include "burnin/agent/node/stages/pinned.h"
#include "burnin/agent/node/stages/site_tool.h"

namespace cupel::agent {
namespace {

constexpr std::uint64_t kLeastBytes = 1u << 20, kMostBytes = 32ull << 30;
constexpr std::array<std::string_view, 7> kOperations{
    "all_reduce", "all_gather", "reduce_scatter", "alltoall", "broadcast", "reduce", "sendrecv"};
constexpr std::array<std::string_view, 2> kSwitches{"on", "off"};

/// "env -i" with what the tool needs of our environment: a variable that somebody left would change
/// what NCCL does without a word.
Work<std::vector<std::string>> own_environment(Node& node) {
  const Command ask{.argv = {"env", "--"}};
  const auto ours = co_await node.programs.run(ask);
  std::vector<std::string> words{"env", "-i"};
  for (const auto line : lines(ours.out))
    if (line.starts_with("PATH=") || line.starts_with("LD_LIBRARY_PATH=")) words.emplace_back(line);
  co_return words;
}

Work<std::string> count_gpus(Node& node) {
  const Command ask{.argv = {"nvidia-smi", "-L"}};
  const auto listed = co_await node.programs.run(ask);
  const auto all = lines(listed.out);
  co_return std::to_string(
      std::ranges::count_if(all, [](auto line) { return line.starts_with("GPU "); }));
}

}  // namespace

Work<GaveUp> run_nccl_tests(Node& node, const JsonValue& order) {
  OrderReader read{order};
  const auto folder = read.folder("directory");
  const auto operation = read.word("operation", kOperations);
  const auto bytes = read.amount("bytes", kLeastBytes, kMostBytes);
  const auto nvls = read.word("nvls", kSwitches);
  const auto limit = read.amount("limit", 1, kLongestLimit);
  if (!read.why().empty()) co_return read.why();
  const auto tool = site_tool(node, folder, operation + "_perf");
  if (!tool) co_return std::string{tool.error().what};
  const auto pin = co_await pin_on_idle_gpus(node, order);
  if (!pin) co_return std::string{pin.error().what};
  node.lines.asked("bytes", static_cast<double>(bytes));
  node.lines.note("operation", operation);
  node.lines.note("nvls", nvls);
  Command command{.limit = std::chrono::seconds{limit}};
  command.argv = co_await own_environment(node);
  const auto gpus = co_await count_gpus(node);
  // NCCL's own log goes to the other stream: there nothing of it gets into a row of the table.
  for (const auto* word : {"LC_ALL=C", "CUDA_DEVICE_ORDER=PCI_BUS_ID", "NCCL_DEBUG=INFO",
                           "NCCL_DEBUG_SUBSYS=INIT", "NCCL_DEBUG_FILE=/dev/stderr"})
    command.argv.emplace_back(word);
  command.argv.emplace_back(nvls == "on" ? "NCCL_NVLS_ENABLE=1" : "NCCL_NVLS_ENABLE=0");
  command.argv.push_back(*tool);
  command.argv.insert(command.argv.end(),
                      {"-b", "8", "-e", std::to_string(bytes), "-f", "2", "-g", gpus, "-c", "1"});
  co_return co_await run_pinned(node, *pin, "nccl-tests", std::move(command));
}

}  // namespace cupel::agent
