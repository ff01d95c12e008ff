#include "burnin/agent/node/stages/cpu_lists.h"

#include <algorithm>

#include "base/text.h"

namespace cupel::agent {

std::vector<int> cpus_in(std::string_view list) {
  std::vector<int> cpus;
  for (const auto range : split(list, ',')) {
    const auto bounds = split(range, '-');
    const auto first = number<int>(bounds.front()), last = number<int>(bounds.back());
    const bool good = bounds.size() <= 2 && first && last && *first >= 0 && *first <= *last &&
                      *last < kMostCpus && (cpus.empty() || *first > cpus.back());
    if (!good) return {};
    for (int cpu = *first; cpu <= *last; ++cpu) cpus.push_back(cpu);
  }
  return cpus;
}

std::string list_of(const std::vector<int>& cpus) {
  std::string list;
  for (std::size_t i = 0; i < cpus.size(); ++i) {
    const auto first = cpus[i];
    while (i + 1 < cpus.size() && cpus[i + 1] == cpus[i] + 1) ++i;
    list += (list.empty() ? "" : ",") + std::to_string(first);
    if (cpus[i] > first) list += "-" + std::to_string(cpus[i]);
  }
  return list;
}

std::size_t spared_of(std::size_t cpus, std::uint64_t spare) {
  return std::min<std::uint64_t>(cpus / 4, spare);
}

}  // namespace cupel::agent
