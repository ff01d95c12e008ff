#pragma once
// A real Slurm on loopback: munged, slurmctld and a slurmd for each node, and slurmrestd where
// asked.
#include <filesystem>
#include <string>

namespace cupel::testing {

class LoopbackSlurm {
 public:
  enum class Rest { none, beside_it };

  static bool installed();
  static bool rest_installed();

  /// Throws std::runtime_error with what it said where it does not come up.
  /// `lines`: NodeName= lines without addresses; empty: a DGX H100 for each.
  explicit LoopbackSlurm(const std::string& nodes, const std::string& lines = {},
                         Rest rest = Rest::none);
  ~LoopbackSlurm();
  LoopbackSlurm(const LoopbackSlurm&) = delete;
  LoopbackSlurm& operator=(const LoopbackSlurm&) = delete;

  std::string configuration() const { return (folder_ / "slurm.conf").string(); }
  /// Of its slurmrestd: where it answers, and an hour's token for the user of this process, as
  /// `scontrol token` prints it.
  std::string rest_url() const;
  std::string rest_token() const;

  /// What sinfo says of one node, in one of its formats: "%t" the state, "%E" the reason, "%f" the
  /// features.
  std::string reported(const std::string& node, const std::string& format) const;
  std::string state(const std::string& node) const { return reported(node, "%t"); }
  std::string reason(const std::string& node) const { return reported(node, "%E"); }

 private:
  std::filesystem::path folder_;
};

}  // namespace cupel::testing
