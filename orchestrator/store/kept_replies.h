#pragma once
// The answers to requests that changed something, by the key that their client gave them: the same
// request again has the same answer, and is not done twice. Kept for a day. For one thread.
#include <functional>
#include <memory>
#include <optional>

#include "orchestrator/store/store.h"

namespace cupel::store {

struct KeptReply {
  std::string who{};      // whose key it is
  std::string key{};      // Idempotency-Key
  std::string request{};  // SHA-256 of method, path and body
  int status = 0;         // 0: it is being done
  std::string location{};
  std::string body{};
  WallTime at{};

  /// Tells this use of the key from all others; 64 hexadecimal digits. A run that the request began
  /// names it, so that one transaction writes both.
  std::string id() const;
};

class KeptReplies {
 public:
  /// Of the store in `folder`, which must be open. Errors: kStorage.
  static Result<KeptReplies> open(const std::filesystem::path& folder);
  KeptReplies(KeptReplies&&) noexcept;
  ~KeptReplies();

  /// Takes the key for this request, or returns what is kept under it. `asked.body`: what is asked
  /// for, as "POST /api/v1/runs". Errors: kStorage.
  Result<std::optional<KeptReply>> claim(const KeptReply& asked);

  /// Errors: kStorage.
  Result<void> keep(const KeptReply& reply);

  /// The request was not done: the key is free again. Errors: kStorage.
  Result<void> drop(const KeptReply& reply);

  /// What was being done when an earlier process ended: `reply` says how it ended, from the claim;
  /// nothing: it was not done, and the key is free again. Errors: kStorage.
  Result<void> settle_unfinished(const std::function<std::optional<KeptReply>(
                                     const KeptReply& claim, std::optional<RunId> begun)>& reply);

  static constexpr std::chrono::hours kKept{24};
  static constexpr int kMost = 100'000;

 private:
  struct Connection;
  explicit KeptReplies(std::unique_ptr<Connection> connection);
  std::unique_ptr<Connection> connection_;
};

}  // namespace cupel::store
