#pragma once
// Where the chains of a store ended at one time: the audit log and the journal of each run. A
// backup has them in a file beside its copy (heads.json). Kept on another machine, they show an end
// that was cut off, or a chain that was made anew.
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "orchestrator/store/audit_log.h"

namespace cupel::store {

/// Where the journal of a run ends, as certificates have it.
struct JournalHead {
  RunId run = 0;
  std::int64_t events = 0;
  std::string hash{};  // of the last event
  friend bool operator==(const JournalHead&, const JournalHead&) = default;
};

struct ChainHeads {
  AuditHead audit{};  // sequence 0: the log has no entry
  std::vector<JournalHead> journals{};
  friend bool operator==(const ChainHeads&, const ChainHeads&) = default;
};

inline constexpr std::string_view kHeadsFile = "heads.json";

/// One JSON object, with the keys that `cupel backup --json` prints.
std::string heads_text(const ChainHeads& heads);

/// Keys that it does not know are passed over. Errors: kInvalid: no such text.
Result<ChainHeads> parse_heads(std::string_view text);

/// Errors: as read_trusted_file() and parse_heads(), with the file's name.
Result<ChainHeads> read_heads(const std::filesystem::path& file);

/// Those that lie in the folder; nothing where there are none. Errors: as read_heads().
Result<std::optional<ChainHeads>> heads_in(const std::filesystem::path& folder);

}  // namespace cupel::store
