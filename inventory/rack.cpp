#include "inventory/rack.h"

#include <algorithm>
#include <array>

#include "base/file.h"
#include "base/paths.h"
#include "inventory/check_files.h"
#include "inventory/read_rack.h"

namespace cupel::inventory {

std::span<const RackKind> rack_kinds() {
  static constexpr std::array<RackKind, 2> kKinds{
      {{"gb200-nvl72", 18, 9, 8, 72}, {"gb300-nvl72", 18, 9, 8, 72}}};
  return kKinds;
}

const RackKind* rack_kind(std::string_view name) {
  const auto kinds = rack_kinds();
  const auto found = std::ranges::find(kinds, name, &RackKind::name);
  return found == kinds.end() ? nullptr : &*found;
}

LoadedRacks parse_racks(std::string_view text, const std::string& file,
                        const std::filesystem::path& folder) {
  auto loaded = parse_inventory(text, file, folder);
  LoadedRacks racks{.inventory = std::move(loaded.inventory),
                    .problems = std::move(loaded.problems)};
  if (!racks.inventory) return racks;
  const auto document = parse_yaml(text, file, racks.problems);
  if (!document) return racks;
  YamlFields site{document->root, "inventory", racks.inventory->file, racks.problems};
  racks.racks =
      read_rack_parts(site, site.value("defaults"), folder, *racks.inventory, racks.problems);
  return racks;
}

LoadedRacks load_racks(const std::filesystem::path& file) {
  constexpr std::size_t kFileLimit = 64u << 20;
  // Whose the file is, and what it names, is checked here.
  auto checked = load_inventory(file);
  if (!checked.inventory) return {.problems = std::move(checked.problems)};
  const auto text = read_file(file, kFileLimit);
  if (!text) return {.problems = {{{file.string(), 0, 0}, text.error().what}}};
  auto racks = parse_racks(*text, file.string(), absolute_path(file).parent_path());
  std::ranges::move(check_rack_files(racks.racks), std::back_inserter(racks.problems));
  if (!racks.problems.empty()) racks.inventory.reset();
  return racks;
}

}  // namespace cupel::inventory
