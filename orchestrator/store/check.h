#pragma once
// Looks through a whole store and says what is broken in it: the database, every run's chain and
// whether its events can be read and have their end, what runs were begun on and by, runs that are
// missing whole, the snapshots,
// the evidence, the audit log, and the tokens and sessions by what the audit log says of them.
// Changes nothing and repairs nothing; works where Store::open refuses.
#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "base/result.h"
#include "orchestrator/store/chain_heads.h"

namespace soci {
class session;
}

namespace cupel::store {

struct Fault {
  std::string where{};   // "run 3, event 17"
  std::string what{};    // what is wrong there
  std::string advice{};  // what a person does about it
};

inline constexpr std::size_t kMostFaults = 100;  // a broken disk has more than anybody reads

struct Checked {
  std::int64_t runs = 0;
  std::int64_t events = 0;
  std::int64_t snapshots = 0;
  std::int64_t evidence = 0;
  AuditHead audit{};
  std::vector<JournalHead> journals{};  // of each run whose chain is whole and not empty
  std::vector<Fault> faults{};          // at most kMostFaults
  std::vector<Fault> repaired{};  // damage of a run that a person gave an end: known, nothing to do
};

/// What nothing in a store proves: kept for whoever could change the database anyhow.
inline constexpr const char* kNotChecked =
    "pinned keys, what is known of BMCs, the options and times of runs, commands "
    "that were given to runs, their boot tickets and keys, requests that wait for approval, kept "
    "replies of the service, the notes of repairs, removals and certificates, and whether the "
    "newest run is missing where no audit log names it (cupel token list, cupel status)";

/// `audit` is the head of the audit log as somebody kept it elsewhere, `kept` the heads of all
/// chains; those of a backup (kHeadsFile in the folder) are held against it in any case. Reads all
/// of it, which takes as long as the disk takes. A controller may work meanwhile. Errors:
/// kNotFound: there is no store; kUnsupported: a newer Cupel wrote it; kStorage: it could not be
/// read for a reason that is no damage.
Result<Checked> check_store(const std::filesystem::path& folder,
                            const std::optional<AuditHead>& audit = {},
                            const ChainHeads& kept = {});

/// The same of the store that the session is of, whatever the folder names; the folder has the
/// evidence that is not with it. Throws what SOCI throws.
Result<Checked> check_tables(soci::session& sql, const std::filesystem::path& folder,
                             const std::vector<ChainHeads>& kept = {});

}  // namespace cupel::store
