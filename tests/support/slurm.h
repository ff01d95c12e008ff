#pragma once
// A real Slurm on loopback: munged, slurmctld and a slurmd for each node.
#include <filesystem>
#include <string>

namespace cupel::testing {

class LoopbackSlurm {
 public:
  static bool installed();

  /// Throws std::runtime_error with what it said where it does not come up.
  /// `lines`: NodeName= lines without addresses; empty: a DGX H100 for each.
  LoopbackSlurm(const std::string& nodes, const std::string& lines = {});
  ~LoopbackSlurm();
  LoopbackSlurm(const LoopbackSlurm&) = delete;
  LoopbackSlurm& operator=(const LoopbackSlurm&) = delete;

  std::string configuration() const { return (folder_ / "slurm.conf").string(); }

  /// What sinfo says of one node, in one of its formats: "%t" the state, "%E" the reason, "%f" the
  /// features.
  std::string reported(const std::string& node, const std::string& format) const;
  std::string state(const std::string& node) const { return reported(node, "%t"); }
  std::string reason(const std::string& node) const { return reported(node, "%E"); }

 private:
  std::filesystem::path folder_;
};

}  // namespace cupel::testing
