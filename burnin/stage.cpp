#include "burnin/stage.h"

#include <array>

#include "burnin/cpu/cpu_memory.h"
#include "burnin/disk/disk.h"
#include "burnin/gpu/gpu_facts.h"
#include "burnin/node/node_facts.h"
#include "burnin/node/watch.h"

namespace cupel::burnin {

std::span<const Stage> stages() {
  static const std::array kStages{node_facts(), gpu_facts(), cpu_memory(), disk(),
                                  // of cupel-node itself
                                  facts(), watch()};
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
