#pragma once
// slurmctld by slurmrestd, with a JSON web token (docs/build/decisions/scontrol.md). Versions
// v0.0.37 (Slurm 21.08) to v0.0.41 (24.05, 24.11) of its API, of which v0.0.39 (23.02) is the first
// that changes nodes.
#include "inventory/slurm_site.h"
#include "orchestrator/handoff/slurm_door.h"
#include "orchestrator/handoff/slurmrestd_api.h"

namespace cupel::handoff {

/// The nodes of an answer. v0.0.37 and v0.0.38 have the state as a text beside its flags, and the
/// features as a text with commas; later ones have lists. Errors: kMalformed.
/// Source: Slurm, "REST API", v0.0.38_node and v0.0.41_node.
Result<std::vector<SlurmNode>> parse_rest_nodes(const json::value& answer);

/// What Slurm from 23.02 on takes for `update`. Source: Slurm, "REST API", update_node_msg.
json::object rest_update(const SlurmUpdate& update);

class Slurmrestd : public SlurmBackend {
 public:
  explicit Slurmrestd(const inventory::SlurmRest& rest) : api_{rest} {}

  /// 100,000 at most, and 64 MiB.
  Task<Result<std::vector<SlurmNode>>> nodes(std::string name, Deadline deadline) override;
  Task<Result<void>> update(std::string name, SlurmUpdate update, Deadline deadline) override;
  /// kUnsupported: slurmrestd makes none before v0.0.42.
  Task<Result<void>> reserve(std::string name, std::string reservation, Deadline deadline) override;
  Task<Result<void>> unreserve(std::string reservation, Deadline deadline) override;
  Task<Result<std::string>> ping(Deadline deadline) override;

 private:
  /// `node`: for error texts.
  Task<Result<json::value>> ask(ApiRequest request, std::string node, Deadline deadline);
  Result<void> failure_in(const ApiAnswer& answer, const std::string& node) const;

  SlurmrestdApi api_;
};

}  // namespace cupel::handoff
