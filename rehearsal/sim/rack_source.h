#pragma once
// Which virtual rack is meant: a rack's file, or somebody's inventory in its place, and what shall
// happen in it.
#include <optional>
#include <string>
#include <vector>

#include "rehearsal/rack_spec.h"

namespace cupel::rehearsal {

struct RackSource {
  std::string rack = "h100-8";  // a file, or a shipped one by its name
  std::string inventory{};      // instead
  std::string scenario{};       // a file, or a shipped one by its name
  std::string slurm{};          // SLURM_CONF of a Slurm that knows the nodes
  std::optional<double> speed{};
  std::optional<std::uint64_t> seed{};
  std::string folder{};
  bool on = false;  // its machines are switched on as soon as it stands
  /// Its machines have no operating system, and boot what is served there ("127.0.0.1:8081").
  std::string boot{};
};

/// Speed and seed are those of the command line, else of the scenario or rack, else these.
inline constexpr double kUsualSpeed = 60;
inline constexpr std::uint64_t kUsualSeed = 1;

/// The rack with its scenario, its speed and its seed, or every problem in all the files. On any,
/// nothing.
std::optional<RackSpec> load_rack(const RackSource& source,
                                  std::vector<inventory::Problem>& problems);

/// A scenario, a file or a shipped one by its name, into a rack that is there. False where there
/// was a problem.
bool add_scenario(const std::string& name, RackSpec& into,
                  std::vector<inventory::Problem>& problems);

/// Copies the profiles that lie beside the rack's file or the inventory to `profiles/` in the
/// rack's folder, where its inventory's reader looks for them. Errors: kStorage.
Result<void> copy_profiles(const RackSource& source);

}  // namespace cupel::rehearsal
