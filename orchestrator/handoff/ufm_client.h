#pragma once
// UFM's REST API, read alone: what is linked to what, and how the ports are. GET is all that is
// sent. burnin/fabric/discovery/ufm_rest.h reads the answers.
#include "base/json.h"
#include "base/task.h"
#include "inventory/ufm_site.h"
#include "orchestrator/handoff/api_client.h"

namespace cupel::handoff {

struct UfmAnswers {
  json::value links{}, ports{}, systems{};
};

class UfmClient {
 public:
  explicit UfmClient(const inventory::UfmSite& site);

  /// Three requests, one after the other; 64 MiB of each answer and 20 s for each at most.
  /// Cancel-safe. Errors: as ApiClient::ask; kUnsupported: another status than 200; kMalformed: an
  /// answer that is no JSON.
  Task<Result<UfmAnswers>> ask(Deadline deadline);

  static constexpr std::size_t kLargestAnswer = 64u << 20;

 private:
  Task<Result<json::value>> resource(std::string name, Deadline deadline);

  ApiClient client_;
  std::string base_;  // "/ufmRest" with a password, "/ufmRestV3" with a token
};

}  // namespace cupel::handoff
