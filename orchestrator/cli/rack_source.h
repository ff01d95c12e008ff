#pragma once
// Which virtual rack is meant: what `rack serve` and `rehearse` take alike. What is in those
// files, cupel-sim knows (sim_program.h).
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "orchestrator/cli/command_rows.h"

namespace cupel::cli {

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

/// All of it but the rack itself.
std::vector<OptionRow> rack_options(RackSource& source);

/// The command line of cupel-sim for it: `command` is serve or check.
std::vector<std::string> words_for(const std::string& command, const RackSource& source);

/// Makes the folder that was named, or a temporary one, absolute. Errors: kConflict: the state of
/// real machines is there, or an inventory that no virtual rack wrote, which would be overwritten;
/// kStorage.
Result<void> choose_folder(RackSource& source, const std::string& name);

}  // namespace cupel::cli
