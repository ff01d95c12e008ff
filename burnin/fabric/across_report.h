#pragma once
// What one node reported of a collective over several: its part, as cupel-burn's lines have it.
// Pure and bounded.
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "burnin/gpu/cupel_burn.h"
#include "burnin/job.h"

namespace cupel::burnin::fabric {

struct AcrossReport {
  BurnReport burn{};
  std::optional<int> status{};  // of cupel-burn; nothing: it did not come to its end
  bool joined = false;          // all ranks of all nodes had come
  bool made_id = false;         // it printed the id by which the others find it
  /// Which operation each rank of this node had entered last; empty: it did not say.
  std::vector<std::int64_t> entered{};
  std::string doing{};  // "all_reduce of 64 MiB over 16 ranks"
  /// What NCCL's RAS said on this node of communicators that do not run, and of ranks that are
  /// missing; empty: it said nothing of the kind. Clean and bounded; evidence beside our own.
  std::string ras{};
  /// NCCL's settings on this node: its variables, and those of nccl.conf(5) that these do
  /// not hide. Clean and bounded.
  std::map<std::string, std::string> variables{};
  /// How NCCL reached others, by its log: channels by way ("NET/IB/GDRDMA", "NET/Socket",
  /// "P2P/CUMEM"); empty: it did not say. Clean and bounded.
  std::map<std::string, std::int64_t> channels{};
  bool has_infiniband = false, has_roce = false;  // HCAs that it uses, by their link layer
};

AcrossReport read_across(const Output& output);

/// The id that a node has printed by now, as 256 digits; nothing: not yet. Errors: kMalformed: what
/// it printed is none, or the line says another address than the id.
Result<std::optional<std::string>> id_printed(std::string_view output);

}  // namespace cupel::burnin::fabric
