#pragma once
// `cupel rehearse --catalogue`: every fault of the catalogue in virtual racks, the controller as it
// is against them, and what it found. `cupel rehearse --healthy`: racks without any fault.
#include "orchestrator/cli/context.h"

namespace cupel::cli {

struct CatalogueOptions {
  std::string folder;                // racks, inventories, journals
  std::filesystem::path programs{};  // where cupel-sim lies; empty: beside cupel
  double speed = 60;
  std::uint64_t seed = 1;
  std::size_t nodes = 24;  // of a rack
  std::size_t racks_at_once = 2;
  std::vector<std::string> only{};      // faults by name; empty: all
  int healthy_seeds = 0;                // not the catalogue: so many racks without a fault
  std::string scenario{};               // of those: a file, or a shipped one by its name
  std::vector<std::string> settings{};  // of new-rack: NAME=VALUE
  bool weights = false;                 // also by how often parts fail in fleets
};

/// `passed` where every fault that stages look for was found and named right, what is to be borne
/// was borne, and no healthy node was blamed; else `failed`.
Exit rehearse_catalogue(const Context& context, const CatalogueOptions& options);

}  // namespace cupel::cli
