#pragma once
// What a certificate says: which machines were tested, by what, with which numbers, against which
// criteria, and who saw each fact. An in-toto Statement v1
// (github.com/in-toto/attestation/blob/main/spec/v1/statement.md). Pure.
#include <boost/json/object.hpp>
#include <chrono>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "orchestrator/certificate/media_list.h"
#include "orchestrator/report/summary.h"

namespace cupel::certificate {

inline constexpr std::string_view kStatementType = "https://in-toto.io/Statement/v1";
inline constexpr std::string_view kPredicateType = "urn:cupel:qualification:1";

/// An earlier run whose evidence stands in part: the run that the certificate is of has renewed the
/// rest (report::Requalified).
struct KeptRun {
  report::RunSummary summary{};
  std::vector<std::string> stages{};  // whose evidence stands: "cpu", "gemm@waves"
  std::string journal_sha256{};       // of its journal's file beside it; empty: there is none
};

/// The runs on which this one builds, the newest first, each with what no later run has renewed or
/// made void; none where it renews nothing. Errors: kInvalid: one of them is of another machine, or
/// did not pass; kMalformed: the journal of one was changed; kNotFound; kStorage.
Result<std::vector<KeptRun>> kept_runs(const store::Store& store,
                                       const report::RunSummary& summary);

struct Issue {
  engine::WallTime at{};
  engine::WallTime expires{};
  std::string by{};               // the person, as the admin node names them
  std::set<std::string> nodes{};  // empty: all of the run
  std::string journal_sha256{};   // of the journal's file beside it; empty: there is none
  std::string audit_head{};       // as cupel store verify --audit-head takes it; empty: no entry
  std::vector<KeptRun> kept{};
};

/// Nodes of the run that the issue does not name stand in none of its parts. Errors: kInvalid: the
/// run is not over, has none of the nodes, or one of them in another run's place.
Result<boost::json::object> statement_of(const report::RunSummary& summary, const Issue& issue);

/// As JSON with a line for each innermost list and object, so that people and diffs can read it,
/// and an error can name its line.
std::string payload_of(boost::json::object statement);

/// One machine as a certificate tells of it.
struct CertifiedNode {
  std::string node{}, serial{}, profile{}, decision{};
  std::size_t criteria = 0;           // that were checked, those of kept runs included
  std::vector<engine::RunId> kept{};  // earlier runs whose evidence stands in part
  std::size_t not_met = 0;
  std::vector<CertifiedMedium> media{};
};

/// The journal of an earlier run whose evidence stands.
struct KeptJournal {
  engine::RunId run = 0;
  std::int64_t events = 0;
  std::string head{};         // the last event's hash
  std::string file_sha256{};  // empty: it was not written
};

struct Certified {
  std::string site{}, playbook{};
  engine::RunId run = 0;
  bool rehearsal = false;
  engine::WallTime issued{}, expires{};
  std::string issued_by{};
  std::int64_t events = 0;
  std::string head{};  // of the journal: the last event's hash
  std::string journal_sha256{};
  std::vector<CertifiedNode> nodes{};
  std::vector<KeptJournal> kept{};  // each run once
};

/// What a payload says. Errors: kMalformed: it is no certificate of this version, or contradicts
/// itself (a node's digest, a verdict that its own criteria do not bear).
Result<Certified> read_statement(std::string_view payload);

}  // namespace cupel::certificate
