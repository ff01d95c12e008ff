#pragma once
// A run of a service elsewhere, as a store on this machine: its journal, event by event. What reads
// a store reads it as if the run were here, so that a command prints the same words.
#include <atomic>
#include <filesystem>
#include <memory>
#include <optional>
#include <thread>

#include "orchestrator/api/service_client.h"
#include "orchestrator/cli/context.h"
#include "orchestrator/controller/planned_run.h"
#include "orchestrator/store/controller_lock.h"

namespace cupel::cli {

class RunCopy {
 public:
  /// All that the run's journal has by now. Errors: as ServiceClient; kStorage.
  static Result<std::unique_ptr<RunCopy>> make(const api::ServiceClient& client, engine::RunId run);
  RunCopy(const RunCopy&) = delete;
  RunCopy& operator=(const RunCopy&) = delete;
  /// Removes the copy.
  ~RunCopy();

  const std::filesystem::path& folder() const { return folder_; }
  store::Store& store() { return *store_; }
  engine::RunId run() const { return run_; }

  /// What was written since. Errors: as make().
  Result<void> catch_up();

  /// The time series of the node, of all nodes where it is empty: evidence that a copy goes without
  /// otherwise. Errors: as make().
  Result<void> copy_series(std::string_view node);

  /// Goes on with that until the object is gone; until the service is lost for a minute the copy
  /// looks like a run that a controller drives.
  void keep_up();

  /// Nodes and steps of the run, without what they do. Nothing until it has begun.
  std::unique_ptr<controller::Planned> plan();

 private:
  class CopiedTime;
  RunCopy(api::ServiceClient client, engine::RunId run);

  Result<void> begin();
  Result<void> copy_evidence(const engine::Event& event);
  Result<void> fetch_evidence(const std::string& hash);
  void copy_status();

  api::ServiceClient client_;
  engine::RunId run_;
  std::filesystem::path folder_{};
  std::unique_ptr<CopiedTime> time_;
  std::unique_ptr<store::Store> store_{};
  std::optional<store::ControllerLock> lock_{};
  std::int64_t sequence_ = 0;
  std::jthread follower_{};
};

/// The service that commands ask: of $CUPEL_SERVER, else of Context::socket; nothing: the state
/// folder is on this machine. Errors: kInvalid.
Result<std::optional<api::ServiceClient>> service_to_ask(const Context& context);

/// A service's refusal is the input's fault, its silence is not.
Exit print_error_of_service(const Context& context, const Error& error);

/// The newest run of the service, or of a node. Errors: kNotFound; as ServiceClient.
Result<engine::RunId> newest_run(const api::ServiceClient& client, std::string_view node = {});

}  // namespace cupel::cli
