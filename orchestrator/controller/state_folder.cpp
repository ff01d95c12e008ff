#include "orchestrator/controller/state_folder.h"

#include <fmt/format.h>

#include <fstream>

#include "base/paths.h"
#include "inventory/model.h"
#include "inventory/rehearsal_mark.h"
#include "orchestrator/store/purpose.h"

namespace cupel::controller {
namespace {

namespace fs = std::filesystem;
using store::Purpose;

Result<void> fit_for_virtual_rack(const StateFolder& state, const inventory::Inventory& inventory) {
  const auto purpose = store::purpose_of(state.path);
  if (purpose == Purpose::rehearsal) return ok();
  const auto own = absolute_path(inventory.file).parent_path() / "state";
  const auto advice = fmt::format("name a state for rehearsals, such as --state {}", own.string());
  if (purpose == Purpose::none && state.named) {
    auto kept = store::keep_for_rehearsals(state.path);
    if (kept || kept.error().code != Code::kConflict) return kept;
  }
  // $CUPEL_STATE may be left over from work on real machines.
  const auto* unnamed =
      purpose == Purpose::none && !state.named ? " yet, and only --state can make one of it" : "";
  return Error{Code::kConflict,
               fmt::format("{} is the inventory of a virtual rack, and {} is not a rehearsal's "
                           "state{}: nothing was touched; {}",
                           inventory.file, state.path.string(), unnamed, advice)};
}

}  // namespace

bool is_of_virtual_rack(const std::string& inventory_file) {
  std::string first(inventory::kRehearsalMark.size() + 1, '\0');
  std::ifstream{inventory_file}.read(first.data(), static_cast<std::streamsize>(first.size()));
  return first.starts_with(inventory::kRehearsalMark) && first.ends_with('\n');
}

Result<std::unique_ptr<store::Store>> open_store_for(const StateFolder& state,
                                                     const inventory::Inventory& inventory) {
  if (is_of_virtual_rack(inventory.file)) {
    TRY(fit_for_virtual_rack(state, inventory));
  } else if (store::purpose_of(state.path) == Purpose::rehearsal) {
    return Error{Code::kConflict,
                 fmt::format("{} is a rehearsal's state, and {} names real machines: nothing was "
                             "touched; name another folder with --state",
                             state.path.string(), inventory.file)};
  }
  return store::Store::open(state.path);
}

std::filesystem::path controller_log(const fs::path& state) { return state / "controller.log"; }

}  // namespace cupel::controller
