#include "rehearsal/sim/rack_source.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <filesystem>

#include "base/file.h"
#include "base/paths.h"
#include "inventory/load.h"
#include "inventory/shipped.h"
#include "rehearsal/rack_of_site.h"
#include "rehearsal/scenario.h"

namespace cupel::rehearsal {
namespace {

namespace fs = std::filesystem;
using Problems = std::vector<inventory::Problem>;

struct Text {
  std::string file;
  std::string text;
};

/// A file, or a shipped one by its name.
std::optional<Text> text_of(const std::string& name, std::string_view folder, Problems& problems) {
  constexpr std::size_t kLimit = 1u << 20;
  auto text = read_file(name, kLimit);
  if (text) return Text{name, *std::move(text)};
  const auto shipped = fmt::format("rehearsal/{}/{}.yaml", folder, fs::path{name}.stem().string());
  if (const auto* file = inventory::shipped_file(shipped))
    return Text{shipped, std::string{file->text}};
  std::vector<std::string> known;
  for (const auto& file : inventory::shipped_files())
    if (file.path.starts_with(fmt::format("rehearsal/{}/", folder)))
      known.push_back(fs::path{file.path}.stem().string());
  problems.push_back(
      {{name, 0, 0},
       fmt::format("{}; shipped {}: {}", text.error().what, folder, fmt::join(known, ", "))});
  return std::nullopt;
}

std::optional<RackSpec> rack_of_inventory(const std::string& file, Problems& problems) {
  auto loaded = inventory::load_inventory(file);
  for (auto& problem : loaded.problems) problems.push_back(std::move(problem));
  if (!loaded.inventory) return std::nullopt;
  auto rack = rack_of(std::move(*loaded.inventory));
  if (rack) return *std::move(rack);
  problems.push_back({{file, 0, 0}, rack.error().what});
  return std::nullopt;
}

std::optional<RackSpec> rack_of_file(const std::string& name, Problems& problems) {
  const auto text = text_of(name, "racks", problems);
  return text ? parse_rack(text->text, text->file, problems) : std::nullopt;
}

}  // namespace

std::optional<RackSpec> load_rack(const RackSource& source, Problems& problems) {
  const auto before = problems.size();
  auto rack = source.inventory.empty() ? rack_of_file(source.rack, problems)
                                       : rack_of_inventory(source.inventory, problems);
  if (!source.scenario.empty()) {
    // Without a rack, at least what is wrong in it whatever it is about.
    RackSpec none;
    add_scenario(source.scenario, rack ? *rack : none, problems);
  }
  if (problems.size() > before || !rack) return std::nullopt;
  rack->speed = source.speed.value_or(rack->speed.value_or(kUsualSpeed));
  rack->seed = source.seed.value_or(rack->seed.value_or(kUsualSeed));
  return rack;
}

bool add_scenario(const std::string& name, RackSpec& into, Problems& problems) {
  const auto text = text_of(name, "scenarios", problems);
  return text && parse_scenario(text->text, text->file, into, problems);
}

Result<void> copy_profiles(const RackSource& source) {
  const auto& file = source.inventory.empty() ? source.rack : source.inventory;
  const auto from = absolute_path(file).parent_path() / "profiles";
  const auto to = fs::path{source.folder} / "profiles";
  std::error_code failure;
  if (!fs::is_directory(from, failure)) return ok();
  fs::create_directories(to, failure);
  for (fs::directory_iterator entry{from, failure}, end; !failure && entry != end;
       entry.increment(failure)) {
    if (entry->path().extension() != ".yaml") continue;
    fs::copy_file(entry->path(), to / entry->path().filename(),
                  fs::copy_options::overwrite_existing, failure);
    if (failure) break;
  }
  if (failure)
    return Error{Code::kStorage,
                 "cannot copy " + from.string() + " to " + to.string() + ": " + failure.message()};
  return ok();
}

}  // namespace cupel::rehearsal
