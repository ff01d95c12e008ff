#include "orchestrator/ssh/missing_program.h"

#include <fmt/format.h>

namespace cupel::ssh {

std::optional<std::filesystem::path> file_of(const ProgramShelf& shelf, std::string_view name) {
  for (const auto& folder : shelf.folders()) {
    std::error_code failure;
    if (std::filesystem::is_regular_file(folder / name, failure)) return folder / name;
  }
  return std::nullopt;
}

std::string why_missing(const ProgramShelf& shelf, std::string_view name) {
  std::string places;
  for (const auto& folder : shelf.folders())
    places += (places.empty() ? "in " : ", nor in ") + folder.string();
  const auto* help =
      name == kNodeProgram
          ? "install the package cupel-node, or run scripts/install"
          : "install the package cupel-burn, or a CUDA toolkit (12 or later) here and run "
            "scripts/install again, or copy it from a machine that has built it";
  return fmt::format(
      "{} is missing on the machine that cupel runs on: it is not {}; {}, or name "
      "its folder with --programs",
      name, places.empty() ? "beside cupel" : places, help);
}

}  // namespace cupel::ssh
