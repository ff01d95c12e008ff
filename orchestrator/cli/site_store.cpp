#include "orchestrator/cli/site_store.h"

#include <fmt/format.h>

#include <fstream>

#include "inventory/rehearsal_mark.h"
#include "orchestrator/report/rehearsal.h"
#include "orchestrator/store/purpose.h"

namespace cupel::cli {
namespace {

namespace fs = std::filesystem;
using store::Purpose;

Result<void> fit_for_virtual_rack(const Context& context, const inventory::Inventory& inventory) {
  const auto purpose = store::purpose_of(context.state);
  if (purpose == Purpose::rehearsal) return ok();
  const auto own = fs::absolute(inventory.file).parent_path() / "state";
  const auto advice = fmt::format("name a state for rehearsals, such as --state {}", own.string());
  if (purpose == Purpose::none && context.state_named) {
    auto kept = store::keep_for_rehearsals(context.state);
    if (kept || kept.error().code != Code::kConflict) return kept;
  }
  return Error{Code::kConflict,
               fmt::format("{} is the inventory of a virtual rack, and {} is not a rehearsal's "
                           "state: nothing was touched; {}",
                           inventory.file, context.state.string(), advice)};
}

}  // namespace

bool is_of_virtual_rack(const std::string& inventory_file) {
  std::string first(inventory::kRehearsalMark.size() + 1, '\0');
  std::ifstream{inventory_file}.read(first.data(), static_cast<std::streamsize>(first.size()));
  return first.starts_with(inventory::kRehearsalMark) && first.ends_with('\n');
}

Exit complain_of_store(const Context& context, const Error& error) {
  return complain(context, error, error.code == Code::kConflict ? Exit::invalid : Exit::unfinished);
}

Result<std::unique_ptr<store::Store>> open_store_for(const Context& context,
                                                     const inventory::Inventory& inventory) {
  if (is_of_virtual_rack(inventory.file)) {
    TRY(fit_for_virtual_rack(context, inventory));
  } else if (store::purpose_of(context.state) == Purpose::rehearsal) {
    return Error{Code::kConflict,
                 fmt::format("{} is a rehearsal's state, and {} names real machines: nothing was "
                             "touched; name another folder with --state",
                             context.state.string(), inventory.file)};
  }
  return store::Store::open(context.state);
}

std::string rehearsal_line(const fs::path& state) {
  const bool rehearsal = store::purpose_of(state) == Purpose::rehearsal;
  return rehearsal ? std::string{report::kRehearsal} + "\n" : std::string{};
}

}  // namespace cupel::cli
