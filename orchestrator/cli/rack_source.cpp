#include "orchestrator/cli/rack_source.h"

#include <fmt/format.h>
#include <stdlib.h>

#include <filesystem>

#include "base/paths.h"
#include "orchestrator/cli/site_store.h"
#include "orchestrator/store/purpose.h"

namespace cupel::cli {
namespace {

namespace fs = std::filesystem;

}  // namespace

std::vector<OptionRow> rack_options(RackSource& source) {
  return {
      {"--inventory", &source.inventory, "your own inventory: virtual nodes in place of its nodes"},
      {"--scenario", &source.scenario, "scenario: faults, rules, kinds of BMC, boot times"},
      {"--folder", &source.folder, "keys, certificates, inventory and journal"},
      {"--slurm",
       &source.slurm,
       "slurm.conf of a Slurm that knows the nodes",
       {.existing = Existing::file}},
      {"--speed",
       &source.speed,
       "so many times faster than life [60]",
       {.range = NumberRange{0.1, 100000}}},
      {"--on", &source.on, "switch the machines on as soon as they stand"},
      {"--seed", &source.seed, "of serial numbers and natural spread [1]"}};
}

std::vector<std::string> words_for(const std::string& command, const RackSource& source) {
  std::vector<std::string> words{command};
  const auto add = [&](std::string option, const std::string& value) {
    if (!value.empty()) words.insert(words.end(), {std::move(option), value});
  };
  if (source.inventory.empty())
    words.push_back(source.rack);
  else
    add("--inventory", source.inventory);
  add("--folder", source.folder);
  add("--scenario", source.scenario);
  add("--slurm", source.slurm);
  if (source.speed) add("--speed", fmt::format("{}", *source.speed));
  if (source.seed) add("--seed", std::to_string(*source.seed));
  if (source.on) words.emplace_back("--on");
  add("--boot", source.boot);
  return words;
}

Result<void> choose_folder(RackSource& source, const std::string& name) {
  if (source.folder.empty()) {
    auto made = (temporary_folder() / (name + "-XXXXXX")).string();
    if (::mkdtemp(made.data()) == nullptr)
      return Error{Code::kStorage, "cannot make a folder in " + made};
    source.folder = made;
  }
  source.folder = absolute_path(source.folder).string();
  if (const auto site = store::site_store_at(source.folder))
    return Error{Code::kConflict,
                 fmt::format("{} holds the records and pins of real machines: no virtual rack is "
                             "put there. Name another --folder, or none",
                             site->string())};
  const auto inventory = (fs::path{source.folder} / "inventory.yaml").string();
  std::error_code failure;
  if (!fs::exists(inventory, failure) || controller::is_of_virtual_rack(inventory)) return ok();
  return Error{Code::kConflict,
               fmt::format("no virtual rack wrote {}, and it would be overwritten. "
                           "Name another --folder, or none",
                           inventory)};
}

}  // namespace cupel::cli
