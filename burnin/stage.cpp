#include "burnin/stage.h"

#include <array>

#include "burnin/cpu/cpu_memory.h"
#include "burnin/disk/disk.h"
#include "burnin/gpu/gpu_facts.h"
#include "burnin/node/node_facts.h"

namespace cupel::burnin {

std::span<const Stage> stages() {
  static const std::array kStages{node_facts(), gpu_facts(), cpu_memory(), disk()};
  return kStages;
}

const Stage* stage(std::string_view name) {
  for (const Stage& each : stages())
    if (each.name == name) return &each;
  return nullptr;
}

}  // namespace cupel::burnin
