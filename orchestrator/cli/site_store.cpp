#include "orchestrator/cli/site_store.h"

#include "orchestrator/report/rehearsal.h"
#include "orchestrator/store/purpose.h"

namespace cupel::cli {

Exit print_error_of_store(const Context& context, const Error& error) {
  return print_error(context, error,
                     error.code == Code::kConflict ? Exit::invalid : Exit::unfinished);
}

Result<std::unique_ptr<store::Store>> open_store_for(const Context& context,
                                                     const inventory::Inventory& inventory) {
  return controller::open_store_for({context.state, context.state_named}, inventory);
}

std::string rehearsal_line(const std::filesystem::path& state) {
  const bool rehearsal = store::purpose_of(state) == store::Purpose::rehearsal;
  return rehearsal ? std::string{report::kRehearsal} + "\n" : std::string{};
}

}  // namespace cupel::cli
