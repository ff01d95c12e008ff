// NVIDIA's own diagnosis: dcgmi diag on GPUs that are idle and whole.
#include "burnin/agent/node/stages/idle_gpus.h"
#include "burnin/agent/node/stages/order.h"
#include "burnin/agent/node/stages/pinned.h"

namespace cupel::agent {
namespace {

constexpr std::uint64_t kLevels = 4;

}  // namespace

Work<GaveUp> run_dcgm_diag(Node& node, const JsonValue& order) {
  OrderReader read{order};
  const auto level = read.amount("level", 1, kLevels);
  const auto limit = read.amount("limit", 1, kLongestLimit);
  if (!read.why().empty()) co_return read.why();
  if (!node.programs.has("dcgmi")) co_return "dcgmi is not installed on the node";
  const auto pin = co_await pin_on_idle_gpus(node, order);
  if (!pin) co_return std::string{pin.error().what};
  node.lines.asked("level", static_cast<double>(level));
  const Command command{.argv = {"dcgmi", "diag", "-r", std::to_string(level), "-j"},
                        .environment = {cuda_order()},
                        .limit = std::chrono::seconds{limit}};
  co_return co_await run_pinned(node, *pin, "dcgmi", command);
}

}  // namespace cupel::agent
