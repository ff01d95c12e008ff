// Copies between host and GPUs, and between every two GPUs, by NVIDIA's nvbandwidth.
#include "burnin/agent/node/stages/idle_gpus.h"
#include "burnin/agent/node/stages/order.h"
#include "burnin/agent/node/stages/pinned.h"

namespace cupel::agent {
namespace {

constexpr std::uint64_t kLeastMebibytes = 16, kMostMebibytes = 16'384, kMostSamples = 1000;
/// By copy engines: kernels that copy reach other figures.
constexpr std::array kTests{"host_to_device_memcpy_ce", "device_to_host_memcpy_ce",
                            "device_to_device_memcpy_write_ce", "device_to_device_memcpy_read_ce"};

}  // namespace

Work<GaveUp> run_nvbandwidth(Node& node, const JsonValue& order) {
  OrderReader read{order};
  const auto buffer = read.amount("buffer", kLeastMebibytes, kMostMebibytes);
  const auto samples = read.amount("samples", 1, kMostSamples);
  const auto limit = read.amount("limit", 1, kLongestLimit);
  if (!read.why().empty()) co_return read.why();
  if (!node.programs.has("nvbandwidth")) co_return "nvbandwidth is not installed on the node";
  const auto pin = co_await pin_on_idle_gpus(node, order);
  if (!pin) co_return std::string{pin.error().what};
  // 0.4 knows no JSON and refuses the option.
  const Command ask{.argv = {"nvbandwidth", "--help"}};
  const auto help = co_await node.programs.run(ask);
  Command command{
      .argv = {"nvbandwidth", "-b", std::to_string(buffer), "-i", std::to_string(samples)},
      .environment = {cuda_order()},
      .limit = std::chrono::seconds{limit}};
  if ((help.out + help.err).contains("--json")) command.argv.emplace_back("-j");
  // Left to itself it goes to the CPUs near to each GPU.
  if (!pin->node.empty()) command.argv.emplace_back("--disableAffinity");
  command.argv.emplace_back("-t");
  command.argv.insert(command.argv.end(), kTests.begin(), kTests.end());
  co_return co_await run_pinned(node, *pin, "nvbandwidth", std::move(command));
}

}  // namespace cupel::agent
