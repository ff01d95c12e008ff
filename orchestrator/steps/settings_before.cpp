#include "orchestrator/steps/settings_before.h"

#include <fmt/format.h>

namespace cupel::steps {
namespace {

std::string name_of(const std::string& node) { return "settings-before:" + node; }

}  // namespace

Result<void> keep_settings_before(store::Store& store, const std::string& node,
                                  const settings::SettingsSnapshot& before) {
  TRY(auto kept, settings_before(store, node));
  auto first = kept.value_or(settings::SettingsSnapshot{});
  const auto all = joined(first, before);
  if (all == first) return ok();
  return store.repin(name_of(node), to_text(all));
}

Result<std::optional<settings::SettingsSnapshot>> settings_before(store::Store& store,
                                                                  const std::string& node) {
  const auto kept = store.pinned(name_of(node));
  if (!kept || kept->empty()) return std::optional<settings::SettingsSnapshot>{};
  auto read = settings::read_snapshot(*kept);
  if (!read)
    return Error{Code::kStorage,
                 fmt::format("what the settings of {0} were before Cupel set them cannot be read "
                             "from the store in {1}; to drop it: cupel settings restore {0} "
                             "--forget",
                             node, store.folder().string())};
  return std::optional{*std::move(read)};
}

Result<void> drop_settings_before(store::Store& store, const std::string& node) {
  return store.repin(name_of(node), "");
}

}  // namespace cupel::steps
