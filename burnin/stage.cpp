#include "burnin/stage.h"

namespace cupel::burnin {

std::span<const Stage> stages() { return {}; }

const Stage* stage(std::string_view name) {
  for (const Stage& each : stages())
    if (each.name == name) return &each;
  return nullptr;
}

}  // namespace cupel::burnin
