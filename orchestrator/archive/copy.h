#pragma once
// Records of a store, copied to a bucket and compared with it. What lies there is only added to:
//   evidence/ab/abcd...         raw output, named by its SHA-256
//   runs/12/journal-431.ndjson  the journal of run 12 up to its event 431 (store/journal_file.h);
//                               it comes last: where it lies, all that it names does
//   audit/000000000057.ndjson   the audit log from its entry 57 on (store/audit_log.h); metadata
//                               `last` and `chain-head` say where the piece ends
//   certificates/<SHA-256>      certificates, whose files people name
#include "orchestrator/archive/bucket_client.h"
#include "orchestrator/store/audit_log.h"

namespace cupel::archive {

inline constexpr std::size_t kMostFaults = 100;  // that are named; all are counted

struct CopyRequest {
  std::vector<store::RunId> runs{};         // that are over; empty: all of these
  std::vector<std::string> certificates{};  // their bytes
  std::string prefix{};                     // of every key: "cupel/"
  std::optional<Retention> retention{};     // of new objects
  bool compares = false;                    // nothing is written: each object is read and compared
};

struct CopyReport {
  std::size_t copied = 0, present = 0;      // objects
  std::size_t runs = 0;                     // that lie there whole
  std::vector<store::RunId> not_over{};     // which is why they are not copied
  store::AuditHead audit{};                 // how far the audit log lies there
  std::vector<std::string> certificates{};  // SHA-256 of those that were issued and do not
  std::size_t locked = 0, unlocked = 0;     // of those looked at, as the server says
  std::optional<Retention> retention{};     // of the locked ones that which ends first
  std::size_t faults = 0;
  std::vector<std::string> named_faults{};  // the first kMostFaults
};

/// Copies what the bucket lacks, or compares. What was copied once is looked at again, and not
/// sent; so it may be broken off and repeated. Holds one piece of evidence in memory at a time.
/// What the store itself has lost, a run with a damaged journal, and an object that is not locked
/// as it was asked to be are faults: all else is copied. Errors: those of BucketClient and of the
/// store; kConflict: there is an object with other bytes, with both digests, or more of an audit
/// log than the store has.
Task<Result<CopyReport>> copy_store(const store::Store& store, BucketClient& bucket,
                                    CopyRequest request);

}  // namespace cupel::archive
