#pragma once
// One slurmrestd, asked with the newest version of its API that both sides have, and what its
// answers say of a failure. What is asked: slurmrestd.h (nodes), slurmrestd_jobs.h (jobs).
#include <functional>
#include <optional>
#include <string>

#include "inventory/slurm_site.h"
#include "orchestrator/handoff/api_client.h"

namespace cupel::handoff {

/// The first of an answer's errors.
struct RestFailure {
  std::string words{};
  int number = 0;  // of slurm_errno.h, or of errno(3); -1: not given
};

/// Numbers of failures. Source: slurm_errno.h (22.05 to 24.11).
inline constexpr int kRestAccessDenied = 2002, kRestNoSuchJob = 2017, kRestNoSuchNode = 2018;

/// Nothing where the answer has no errors; its warnings are none.
std::optional<RestFailure> rest_failure(const json::value& body);

/// v0.0.39 (23.02) is the first whose jobs and nodes go by lists, and that changes nodes.
inline constexpr int kRestWithLists = 39;

class SlurmrestdApi {
 public:
  /// The request for one version of the API: 41 for v0.0.41. Its path is behind "/slurm/v0.0.41".
  using ForVersion = std::function<ApiRequest(int version)>;

  explicit SlurmrestdApi(const inventory::SlurmRest& rest);

  /// Errors: ApiClient's; kUnsupported: it has no version that Cupel has; kUnreachable: nor has it
  /// the one that it had before.
  Task<Result<ApiAnswer>> ask(ForVersion request, Deadline deadline);
  /// Slurm's accounting, with the version that ask() found; its path is behind "/slurmdb/v0.0.41".
  /// Errors: ApiClient's. A slurmrestd without accounting answers 404, or with a failure.
  Task<Result<ApiAnswer>> ask_accounting(ApiRequest request, Deadline deadline);

  /// That the answer is no failure. Errors: kUnreachable: nothing says whether slurmctld did it;
  /// kRefused: the token; kFailed: it did not, with Slurm's words.
  Result<void> check(const ApiAnswer& answer) const;

  /// "slurmrestd at https://10.0.0.1:6820 (API v0.0.41)"
  std::string who() const;
  /// Whom the token is for: as the inventory says, or the token that was used last; empty: neither
  /// says it.
  std::string user() const;

 private:
  std::string user_;
  ApiClient client_;
  int version_ = 0;  // that it had when it was asked last; 0: not known
};

}  // namespace cupel::handoff
