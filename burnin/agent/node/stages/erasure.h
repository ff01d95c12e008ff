#pragma once
// One NVMe drive that erases itself: what its controller can do, and how far it is. The stage
// `sanitize` does it to all of them. Source: NVM Express base specification 2.0, Identify
// Controller (OACS, FNA, SANICAP, TNVMCAP), Format NVM, Sanitize; nvme-sanitize(1), nvme-format(1)
// of nvme-cli 2.
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "burnin/agent/node/stages/nvme_guards.h"
#include "burnin/agent/node/stages/scratch.h"
#include "burnin/disk/erase_technique.h"
#include "burnin/disk/sanitize_log.h"

namespace cupel::agent {

using Technique = burnin::EraseTechnique;

/// That of a sanitize action; without a name for an action that this version does not know.
Technique technique_of_action(std::uint32_t action);

/// What a controller reports of itself.
struct NvmeAbilities {
  std::string serial{};
  std::uint64_t oacs = 0, fna = 0, sanicap = 0;
  std::optional<double> total{}, unallocated{};  // bytes of all name spaces, and of none
};

/// Nothing where `nvme id-ctrl --output-format=json` did not print the four that decide.
std::optional<NvmeAbilities> read_abilities(std::string_view json);

/// The best that it can do, or why there is none. `purge`: a mere clear is none. `seen`: bytes of
/// the name spaces that the node has; format would not reach others.
struct Choice {
  Technique technique{};
  std::string why{};
};
Choice choose(const NvmeAbilities& can, bool purge, double seen);

struct Erasure {
  std::string drive{}, serial{}, model{}, path{};
  std::vector<NvmeDrive> spaces{};
  Technique technique{};
  std::string_view result = "untouched";  // or erased, failed, unknown
  std::string why{};                      // it is not erased
  std::string verified{};                 // how it is known that it is
  bool eligible = false;                  // nothing speaks against its erase so far
  bool waits = false;                     // for its sanitize log
  bool began = false;                     // the drive has taken the command
  bool seen_running = false;              // and its log has said so
  int looks = 0;                          // since then, at a log that may be of an earlier one
  std::optional<burnin::SanitizeLog> before{};  // this erase was begun
  double percent = 0;

  void fail(std::string reason) {
    result = "failed";
    why = std::move(reason);
  }
};

/// Why it is not touched now; empty where it may be.
Work<std::string> why_not_erased(Node& node, const Erasure& erasure);

/// Its name spaces, opened exclusively: while this is there nothing mounts or assembles them.
using Grip = std::vector<std::unique_ptr<HeldDevice>>;

/// Whether its erase may be begun now; what speaks against it is its reason. The kernel itself
/// refuses to hold what is in use in a way that no tool shows (a further disk of a btrfs).
Work<bool> may_begin(Node& node, Erasure& erasure, Grip& grip);

/// Looks at the drive, and plans what to do with it: nothing where it was erased before and nothing
/// was written since, waiting where it still erases itself.
Work<bool> plan_erasure(Node& node, Erasure& erasure, bool purge);

Work<bool> begin_sanitize(Node& node, Erasure& erasure);
/// Reads its log, and notes how its sanitize ended where it has.
Work<bool> look_at_sanitize(Node& node, Erasure& erasure);

/// What is still found on it makes a failure of its success.
Work<bool> verify_erasure(Node& node, Erasure& erasure);

/// A tool's words, the last line that it printed; its status where it printed none.
std::string last_line_of(const Ran& ran);

}  // namespace cupel::agent
