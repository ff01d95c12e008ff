#include "orchestrator/handoff/scheduler.h"

#include "base/text.h"
#include "inventory/model.h"
#include "orchestrator/handoff/both_schedulers.h"
#include "orchestrator/handoff/kubernetes.h"
#include "orchestrator/handoff/slurm.h"

namespace cupel::handoff {

Task<Result<void>> Scheduler::place(const inventory::Node&, const inventory::NvlinkDomain&,
                                    Deadline) {
  co_return ok();
}

Task<Result<void>> Scheduler::reserve(const inventory::Node&, std::string, Deadline) {
  co_return ok();
}

Task<Result<void>> Scheduler::unreserve(const inventory::Node&, std::string, Deadline) {
  co_return ok();
}

std::string with_short_urls(std::string_view text) {
  constexpr std::size_t kShort = 40;
  std::string line;
  while (!text.empty()) {
    const auto begin = text.find("://");
    const auto host = begin == text.npos ? text.npos : begin + 3;
    const auto end = host == text.npos ? text.npos : text.find_first_of(" \t\n,;)", host);
    if (host == text.npos) break;
    const auto path = text.substr(0, end).find('/', host);
    const bool long_one = path != text.npos && std::min(end, text.size()) - begin > kShort;
    line +=
        long_one ? std::string{text.substr(0, path)} + "/..." : std::string{text.substr(0, end)};
    text.remove_prefix(std::min(end, text.size()));
  }
  return line += text;
}

std::string one_line_reason(std::string_view text) {
  auto line = printable(text);
  std::erase_if(line, [](char c) { return c == '"' || c == '\''; });
  return shortened(line, kLongestReason);
}

SchedulerOf scheduler_of(const inventory::Inventory& inventory, const std::string& signature) {
  std::shared_ptr<Scheduler> slurm, kubernetes, both;
  if (inventory.slurm) slurm = std::make_shared<Slurm>(*inventory.slurm, signature);
  if (inventory.kubernetes)
    kubernetes = std::make_shared<Kubernetes>(*inventory.kubernetes, signature);
  if (slurm && kubernetes) both = std::make_shared<BothSchedulers>(slurm, kubernetes);
  return [&inventory, slurm, kubernetes, both](const inventory::Node& node) {
    const bool of_slurm = inventory.is_of_slurm(node);
    if (of_slurm && inventory.is_of_kubernetes(node)) return both;
    return of_slurm ? slurm : kubernetes;
  };
}

}  // namespace cupel::handoff
