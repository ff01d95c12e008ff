#include "burnin/undo.h"

namespace cupel::burnin {

const Undo* undo_of(std::string_view step) {
  const auto* changes = stage(step);
  return changes == nullptr ? nullptr : changes->undo;
}

const Undo* undone_by(std::string_view step) {
  const auto name = base_name(step);
  for (const auto& each : stages())
    if (each.undo != nullptr && each.undo->stage == name) return each.undo;
  return nullptr;
}

}  // namespace cupel::burnin
