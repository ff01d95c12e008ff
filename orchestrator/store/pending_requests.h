#pragma once
// Requests that wait for a second person's approval. For one thread.
#include <memory>

#include "base/json.h"
#include "orchestrator/store/store.h"

namespace cupel::store {

struct PendingRequest {
  std::string id{};
  std::string request{};  // JSON, the service's own
  std::string asked_by{};
  std::string origin{};
  WallTime at{};
  WallTime expires{};
};

class PendingRequests {
 public:
  /// Of the store in `folder`, which must be open. Errors: kStorage.
  static Result<PendingRequests> open(const std::filesystem::path& folder);
  PendingRequests(PendingRequests&&) noexcept;
  ~PendingRequests();

  /// Errors: kStorage; kConflict: as many wait as may.
  Result<void> add(const PendingRequest& request);
  /// Those that have not expired, oldest first. Errors: kStorage.
  Result<std::vector<PendingRequest>> list(WallTime now) const;
  /// Errors: kNotFound: there is none, or it has expired; kStorage.
  Result<PendingRequest> find(std::string_view id, WallTime now) const;
  /// Removes it. Errors: kConflict: another one was faster; kStorage.
  Result<void> take(std::string_view id);

  static constexpr int kMost = 1000;

 private:
  struct Connection;
  explicit PendingRequests(std::unique_ptr<Connection> connection);
  std::unique_ptr<Connection> connection_;
};

}  // namespace cupel::store
