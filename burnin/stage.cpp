#include "burnin/stage.h"

#include <array>

#include "burnin/cpu/cpu.h"
#include "burnin/cpu/cpu_memory.h"
#include "burnin/disk/disk.h"
#include "burnin/disk/nvme.h"
#include "burnin/disk/storage.h"
#include "burnin/gpu/gpu_facts.h"
#include "burnin/memory/memory.h"
#include "burnin/node/node_facts.h"
#include "burnin/node/thermal.h"

namespace cupel::burnin {

std::span<const Stage> stages() {
  static const std::array kStages{node_facts(), gpu_facts(), cpu_memory(), disk(),
                                  // the host's parts, one by one
                                  cpu(), memory(), nvme(), storage(), thermal()};
  return kStages;
}

std::string_view base_name(std::string_view step) { return step.substr(0, step.find('@')); }

const Stage* stage(std::string_view name) {
  name = base_name(name);
  for (const Stage& each : stages())
    if (each.name == name) return &each;
  return nullptr;
}

}  // namespace cupel::burnin
