#include "orchestrator/handoff/scheduler.h"

#include "base/text.h"
#include "inventory/model.h"
#include "orchestrator/handoff/kubernetes.h"
#include "orchestrator/handoff/slurm.h"

namespace cupel::handoff {

Task<Result<void>> Scheduler::reserve(const inventory::Node&, std::string, Deadline) {
  co_return ok();
}

Task<Result<void>> Scheduler::unreserve(const inventory::Node&, std::string, Deadline) {
  co_return ok();
}

std::string one_line_reason(std::string_view text) {
  auto line = printable(text);
  std::erase_if(line, [](char c) { return c == '"' || c == '\''; });
  return shortened(line, kLongestReason);
}

std::shared_ptr<Scheduler> scheduler_of(const inventory::Inventory& inventory,
                                        std::string signature) {
  if (inventory.kubernetes)
    return std::make_shared<Kubernetes>(*inventory.kubernetes, std::move(signature));
  if (inventory.slurm) return std::make_shared<Slurm>(*inventory.slurm, std::move(signature));
  return nullptr;
}

}  // namespace cupel::handoff
