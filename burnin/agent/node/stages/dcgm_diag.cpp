// NVIDIA's own diagnosis: dcgmi diag on GPUs that are idle and whole.
#include "burnin/agent/node/stages/idle_gpus.h"

namespace cupel::agent {
namespace {

constexpr std::uint64_t kLevels = 4, kMostSeconds = 86'400;

}  // namespace

Work<GaveUp> run_dcgm_diag(Node& node, const JsonValue& order) {
  const auto* level = order.find("level");
  const auto* limit = order.find("limit");
  const auto wanted = level == nullptr ? std::nullopt : level->count();
  const auto seconds = limit == nullptr ? std::nullopt : limit->count();
  if (!wanted || *wanted < 1 || *wanted > kLevels)
    co_return "the order has no level from 1 to " + std::to_string(kLevels);
  if (!seconds || *seconds < 1 || *seconds > kMostSeconds)
    co_return "the order has no limit from 1 to " + std::to_string(kMostSeconds) + " seconds";
  if (!node.programs.has("dcgmi")) co_return "dcgmi is not installed on the node";
  auto why = co_await wait_for_idle_gpus(node);
  if (!why.empty()) co_return why;
  node.lines.asked("level", static_cast<double>(*wanted));
  const Command command{.argv = {"dcgmi", "diag", "-r", std::to_string(*wanted), "-j"},
                        .environment = {cuda_order()},
                        .limit = std::chrono::seconds{*seconds}};
  const auto ran = co_await node.programs.run(command);
  node.lines.evidence("dcgmi", "", command, ran);
  co_return {};
}

}  // namespace cupel::agent
