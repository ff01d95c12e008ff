#pragma once
// `cupel-sim catalogue`: which racks the catalogue of faults takes, and one of them with all that a
// controller needs for it: an inventory, a profile of its own, and a Slurm that is a script.
#include <string>
#include <vector>

#include "rehearsal/sim/say.h"

namespace cupel::rehearsal {

struct CatalogueSource {
  std::string folder{};  // of the rack that is to stand
  std::string rack{};    // its name; empty: none stands, the racks are listed
  std::string boot{};    // of a rack with empty disks: what its machines boot is served there
  double speed = 60;
  std::uint64_t seed = 1;
  std::size_t nodes = 24;           // of a rack
  std::vector<std::string> only{};  // faults by name; empty: all
  int healthy_seeds = 0;            // not the catalogue: so many racks without a fault
  std::string scenario{};           // of those
};

/// Prints {"racks": [{name, seed, playbook, places: [{node, fault?, neighbour?}]}]}, where a fault
/// is {name, verdict, part, check, like, because,
/// needs}; or {"problems": [...]} or {"error": "..."}.
SimExit list_catalogue(const CatalogueSource& source);

/// The rack stands until SIGINT or SIGTERM. Prints {"stands": NAME}, and at the end {"speed": how
/// fast its time has passed}.
SimExit serve_catalogue(const CatalogueSource& source);

}  // namespace cupel::rehearsal
